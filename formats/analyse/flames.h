/*
 * flames.h - profiles as flame graphs in JSON, for the scripts that draw them.
 *
 * The samples are sorted by their stacks from the outermost function on, so that the frames of the
 * tree come one after another and need not be stored. Of the frames only the largest are written: a
 * caller is at least as large as what it calls, so they are a tree.
 */
#ifndef ANALYSE_FLAMES_H
#define ANALYSE_FLAMES_H

#include "formats/analyse/profile.h"

typedef struct flames flames;

/* Graphs of profiles with these stacks; both are borrowed. Returns NULL if memory is refused. */
flames *flames_new(out *o, stacks *names);
void flames_free(flames *f);

/* Writes {"kind":..,"total":..,"frames":[..],"omitted":..,"least":..}. The frames are numbers, each
 * frame after those that it calls: its level, its name and its time. A name is an index in
 * flames_names; that of a state is -1 minus the index. omitted: how many frames are not written, of
 * at most `least` ns. Returns false if memory was refused. */
bool flames_put(flames *f, const profile *p);

/* The names of the frames that were written. */
const uint32_t *flames_names(const flames *f, size_t *count);

/* The time of all samples. */
int64_t flames_sum(const profile *p);

#endif
