/*
 * recovery.h - read a damaged trace as if it had been repaired first.
 *
 * The verb then reads, byte for byte, what `gotrace repair` would write, from an unnamed temporary
 * file. Recovery starts only after normal reading has found damage after which data is lost: a
 * sound trace, and a trace that only violates rules, is read directly.
 */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "cmd/input.h"

/* Whether data is lost because of this problem, so that a recovery can provide more: bytes do not
 * make sense, or the trace ends early. */
bool recovery_helps(const gotrace_error *problem);

typedef enum recovery {
    RECOVERY_DONE,
    RECOVERY_USELESS, /* nothing to gain, or the trace is larger than a repair may read */
    RECOVERY_FAILED,  /* a call of the operating system failed, or memory ran out; reported */
} recovery;

/* Recover the trace of in->source, report the damage (rule GOTRACE_RULE_NONE: it was reported) and
 * what was lost, and read the recovered trace from now on. If it is not recovered, in is unchanged
 * except for its findings. */
recovery recovery_read(input *in, const gotrace_error *damage);

/* If the input is a crash file of a recorder, read the trace that is made of it from now on.
 * Returns false after adding a finding. */
bool recovery_of_crash(input *in);

/* Set *kept to the number of the trace's events that `gotrace repair` keeps. Returns false if
 * repair fails. */
bool recovery_measure(const input *in, uint64_t *kept);

#endif
