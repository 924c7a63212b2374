/*
 * names.h - write names and stacks of a trace, as text and as JSON.
 */
#ifndef CMD_NAMES_H
#define CMD_NAMES_H

#include "formats/analyse/stack_views.h"
#include "formats/common/out.h"

/* The text of a name, or "(unknown)" if it is empty. */
const char *names_text(const stacks *s, uint32_t name, size_t *size);

/* The bytes of a text that are shown: at most that many, and whole characters. */
size_t names_cut(const char *text, size_t size, size_t most);

/* Write a name with escapes; a long one is cut. */
void names_write(out *o, const stacks *s, uint32_t name);

/* Write what follows the function of a goroutine with that label; 0: nothing. */
void names_write_label(out *o, const stacks *s, uint32_t label);      /* (itself) */
void names_write_json_label(out *o, const stacks *s, uint32_t label); /* ,"label":"itself" */

/* Write the innermost frames of a stack, in a line. */
void names_write_stack(out *o, const stacks *s, uint32_t stack);

/* Write what a row of a table shows of a stack. */
void names_write_frames(out *o, const stacks *s, uint32_t stack, stack_view view);

/* Write a name as a JSON string. */
void names_write_json(out *o, const stacks *s, uint32_t name);

/* Write ,"stack":[...] with all frames. */
void names_write_json_stack(out *o, const stacks *s, uint32_t stack);

#endif
