/* gaps.h - when something was recorded that is lost in a damaged trace. */
#ifndef VIEW_GAPS_H
#define VIEW_GAPS_H

#include "cmd/input.h"
#include "formats/view/api/api.h"

/* The gaps of a trace that was read to its end, which lasts from begin to end, as view_api_set_gaps
 * wants them; to be freed. NULL: memory is refused. in has at least one. */
view_gap *gaps_find(const input *in, int64_t begin, int64_t end, size_t *count);

#endif
