/*
 * hit.h - a moment that was found, as a line of text or a row of JSON Lines.
 */
#ifndef CMD_FIND_HIT_H
#define CMD_FIND_HIT_H

#include "formats/analyse/moments.h"
#include "formats/common/out.h"

/* file: its name, for a row of JSON as it is. */
void hit_text(out *o, const char *file, const stacks *names, const moment *m);
void hit_json(out *o, const char *file, const stacks *names, const moment *m);

#endif
