/* completion.h - shell completion scripts, generated from the verbs' rows. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "formats/common/out.h"

/* Returns the n-th supported shell, NULL past the last. */
const char *completion_shell(size_t n);

/* Write the completion script of a shell. */
void completion_write(out *o, const char *shell);

#endif
