/*
 * hit.h - a moment that was found, as a line of text or a row of JSON Lines.
 */
#ifndef CMD_FIND_HIT_H
#define CMD_FIND_HIT_H

#include "formats/analyse/moments.h"
#include "formats/common/out.h"

/* file: its name, for a row of JSON as it is. clock: the wall clock, by which text then has times;
 * NULL: there is none, or they are since the start. */
void hit_text(out *o, const char *file, const select_clock *clock, const stacks *names,
              const moment *m);
void hit_json(out *o, const char *file, const select_clock *clock, const stacks *names,
              const moment *m);

#endif
