/* version_file.h - convert a trace to another version. */
#ifndef VERSION_FILE_H
#define VERSION_FILE_H

#include "cmd/verb.h"

/* Convert the trace of the session. Returns an exit status. */
int version_write(session *s, int version);

#endif
