/* completion.h - completion scripts for shells, made from the verbs' rows. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "formats/formats.h"

/* The n-th shell that there is a script for, NULL past the last. */
const char *completion_shell(size_t n);

/* Write the script for one of these shells. */
void completion_write(out *o, const char *shell);

#endif
