/* records.h - write the records of a trace as an event script, for dump and convert. */
#ifndef RECORDS_H
#define RECORDS_H

#include "cmd/input.h"
#include "formats/script/scripts.h"

/* Write the records of FILE to OUT. Returns an exit status. */
int records_dump(session *s, const script_format *how);

/* Returns the name of the n-th script format, NULL past the last. */
const char *script_name(size_t n);

#endif
