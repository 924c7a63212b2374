/*
 * asked.h - names that the command line asks for and no trace has: report which ones there are.
 */
#ifndef CMD_ASKED_H
#define CMD_ASKED_H

#include <stdbool.h>
#include <stddef.h>

enum { ASKED_SHOWN = 5, ASKED_LONGEST = 60 };

/* A name that is asked for, and the most similar ones that there are. */
typedef struct asked_name {
    const char *kind; /* "task has the name" */
    const char *text; /* borrowed */
    bool exists;
    bool others; /* there are more than those shown */
    size_t count;
    struct asked_similar {
        size_t distance;
        char text[2 * ASKED_LONGEST + sizeof "..."];
    } shown[ASKED_SHOWN]; /* the most similar ones first */
} asked_name;

/* A trace has a name, which need not end with a NUL; the same one may be added several times. */
void asked_add(asked_name *asked, const char *text, size_t size);

/* Print a note, unless the name exists or is empty. */
void asked_report(const asked_name *asked);

#endif
