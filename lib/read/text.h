/* text.h - text of the traced program in a trace, see core/text.h. */
#ifndef GT_READ_TEXT_H
#define GT_READ_TEXT_H

#include "core/text.h"
#include "gotrace_experimental.h"

/* Set *begin to where the text begins that includes the byte at that offset; UINT64_MAX if it is no
 * text. False on failure. */
bool gt_text_find(gotrace_reader *reader, uint64_t at, uint64_t *begin);

/* Quote the beginning of the text at that offset; "" if there is no text. False on failure. */
bool gt_text_at(gotrace_reader *reader, uint64_t at, char quote[GT_TEXT_QUOTE]);

/* The message of GOTRACE_RULE_WIRE_TEXT, with the quote. */
#define GT_TEXT_MESSAGE "text is mixed into the trace: \"%s\"; write the trace to a file of its own"

#endif
