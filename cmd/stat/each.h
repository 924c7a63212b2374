/* each.h - rows of single goroutines, regions and tasks, as they end. */
#ifndef CMD_STAT_EACH_H
#define CMD_STAT_EACH_H

#include "formats/analyse/statistics.h"
#include "formats/common/out.h"

/* Returns what writes the rows to o, which is borrowed. */
statistics_each each_to(out *o);

#endif
