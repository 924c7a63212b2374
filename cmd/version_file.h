/* version_file.h - convert a trace to another version. */
#ifndef VERSION_FILE_H
#define VERSION_FILE_H

#include "cmd/verb.h"

/* Convert the trace of the session; strict: only if nothing is left out. Returns an exit status. */
int version_write(session *s, int version, bool strict, bool no_recover);

#endif
