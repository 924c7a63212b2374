/*
 * sandbox.h - restrict the process to what reading a trace needs, before its first byte is read.
 *
 * Landlock permits reading the files of the command line, writing to the folder of the output, and
 * using the folder of temporary files. seccomp permits the system calls that the program makes;
 * those that run programs, open connections, access other processes, or make memory executable are
 * denied. A verb that serves may also accept connections to the socket at which it listens already.
 * The restrictions are enforced by the kernel, apply to all threads, and cannot be removed.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include "cmd/verb.h"

/* Enter the sandbox before any other thread is started. Reports what the kernel does not support;
 * EXIT_SYSTEM if it supports neither. */
int sandbox_enter(const session *s);

#endif
