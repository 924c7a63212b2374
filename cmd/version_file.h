/* version_file.h - a trace written as another version of Go has it. */
#ifndef VERSION_FILE_H
#define VERSION_FILE_H

#include "verb.h"

/* "go1.5", ...: the n-th version, NULL past the last; how many there are; and the one of that name, 0
 * if there is none. */
const char *version_name(size_t n);
size_t version_count(void);
int version_by_name(const char *name);

/* Convert the session's one trace. Returns an exit status. */
int version_write(session *s, int version);

#endif
