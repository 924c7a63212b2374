/*
 * unwind.h - whether the unwinder of the compiler can go on from a frame.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <unwind.h>

/* Sets where the return address of the frame's function is, and whether the function to which it
 * belongs has unwind information, without which there are no further frames. False: that cannot be
 * known, or not be read. */
bool trace_next_frame(struct _Unwind_Context *context, const uintptr_t **place, bool *described);

#endif
