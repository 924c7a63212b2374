/* version_file.h - a trace written as another version of Go has it. */
#ifndef VERSION_FILE_H
#define VERSION_FILE_H

#include "cmd/verb.h"

/* Convert the session's one trace. Returns an exit status. */
int version_write(session *s, int version);

#endif
