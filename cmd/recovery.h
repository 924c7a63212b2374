/*
 * recovery.h - reading a damaged trace as if it had been repaired first.
 *
 * What a verb reads is then, byte for byte, what `gotrace repair` would write, in a temporary file
 * without a name. This begins only after the ordinary reading has met damage behind which something
 * is lost: a sound trace, and one that merely breaks rules, is read where it is.
 */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "cmd/input.h"

/* Whether more than that problem's reading gives can be had: nothing could be read behind it, or
 * the trace simply stops. */
bool recovery_helps(const gotrace_error *problem);

/* Recover what in's source has, tell what was lost, and read that from now on. False, with in as it
 * was, where nothing is to be had by it. */
bool recovery_read(input *in);

#endif
