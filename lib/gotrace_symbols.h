/*
 * gotrace_symbols.h - from addresses of machine code to functions, files and lines.
 *
 * The mapped files are read from /proc/PID/maps, or from a copy, so that the addresses of a process
 * can be resolved by another one, and after it has ended. Names are those of the debug information
 * (DWARF, with functions that were inlined), else of ELF symbols, else "FILE+0xOFFSET". The first
 * two need a library that was built with elfutils (libdw). ELF symbols of C++ and Rust have the
 * names of the source if it was also built with libiberty.
 */
#ifndef GOTRACE_SYMBOLS_H
#define GOTRACE_SYMBOLS_H

#include "gotrace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gotrace_symbols gotrace_symbols;

/* Creates a table without mapped files. config: allocator and memory limit (not of libdw); NULL is
 * accepted. */
GOTRACE_API gotrace_status gotrace_symbols_new(const gotrace_config *config,
                                               gotrace_symbols **symbols, gotrace_error *error);

/* Adds the files that are mapped according to the file at that path, in the format of
 * /proc/PID/maps. May be called again after the process has mapped more. */
GOTRACE_API gotrace_status gotrace_symbols_read_maps(gotrace_symbols *symbols, const char *path,
                                                     gotrace_error *error);

/* Whether a mapped file has that address. */
GOTRACE_API bool gotrace_symbols_has(const gotrace_symbols *symbols, uint64_t pc);

/* Sets frames[0] and, for functions that were inlined there, further frames, innermost first;
 * returns their number, at least 1 and at most max. pc is a return address: the line is that of the
 * call before it. Has the type of gotrace_resolve_fn; ctx is a gotrace_symbols. The strings are
 * valid until it is freed. Members pc of the frames: that of the function that was not inlined is
 * pc, the others are numbers from 2^63 on; frames with equal pc are equal. */
GOTRACE_API size_t gotrace_symbols_resolve(void *ctx, uint64_t pc, gotrace_frame *frames,
                                           size_t max);

GOTRACE_API void gotrace_symbols_free(gotrace_symbols *symbols);

#ifdef __cplusplus
}
#endif

#endif
