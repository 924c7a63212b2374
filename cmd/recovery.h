/*
 * recovery.h - read a damaged trace as if it had been repaired first.
 *
 * The verb then reads, byte for byte, what `gotrace repair` would write, from an unnamed temporary
 * file. Recovery starts only after normal reading has found damage after which data is lost, or
 * (v2) altered times: a sound trace, and a trace that only violates rules, is read directly.
 */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "cmd/input.h"

/* Call input_open_reader. If a part of the trace cannot be read because of damage, recover it; the
 * reader then reads the recovered trace. With no_recover it reads the data before the damage. */
bool recovery_open(input *in, session *s, const char *path, bool no_recover);

/* The same, and check the whole trace; problems are added to the findings. */
bool recovery_check(input *in, session *s, const char *path, bool no_recover);

/* The row of --no-recover, a bool in the struct of options of a verb that opens traces so. */
/* clang-format off */
#define NO_RECOVER_OPTION(options, member)                                                         \
    {0, "no-recover", OPTION_FLAG, NULL, offsetof(options, member), NULL,                          \
     "read only the data before damage"}
/* clang-format on */

/* If the input is a crash file of a recorder, read the trace that is made of it from now on.
 * Returns false after adding a finding. */
bool recovery_of_crash(input *in);

/* Set *kept to the number of the trace's events that `gotrace repair` keeps. Returns false if
 * repair fails. */
bool recovery_measure(const input *in, uint64_t *kept);

#endif
