/*
 * sandbox.h - giving up what reading a trace does not need, before its first byte is read.
 *
 * Landlock leaves the files that the command line names to be read, the output's folder to be
 * written, and the folder of temporary files. Seccomp leaves the calls of the system that the
 * program makes: none that runs another program, opens a connection, looks at other processes, or
 * makes memory executable. Both are the kernel's, hold for all threads, and cannot be given back.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include "cmd/verb.h"

/* Enter it; no thread but the caller's may have been started. What the kernel lacks is told, and
 * where it has neither of the two, that is an error: EXIT_SYSTEM, else EXIT_SOUND. */
int sandbox_enter(const session *s);

#endif
