/* records.h - the records of a trace as an event script: what dump does, and convert too. */
#ifndef RECORDS_H
#define RECORDS_H

#include "cmd/input.h"

/* Write the records of the verb's FILE to -o OUT. Returns an exit status. */
int records_dump(session *s, const script_format *how);

/* The n-th script format's name, NULL past the last. */
const char *script_name(size_t n);

#endif
