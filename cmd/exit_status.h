/* exit_status.h - exit statuses, the same for every verb. */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

enum {
    EXIT_SOUND = 0,   /* success, and the trace is sound */
    EXIT_DAMAGED = 1, /* the trace is damaged or invalid; what could be done was done */
    EXIT_USAGE = 2,   /* the command line or the script is wrong */
    EXIT_SYSTEM = 3,  /* a file could not be read or written, or memory ran out */
};

#endif
