/* each.h - rows of single goroutines, regions and tasks, as they end. */
#ifndef CMD_STAT_EACH_H
#define CMD_STAT_EACH_H

#include "formats/analyse/statistics.h"
#include "formats/common/out.h"

/* Where the rows go, and the file that they are of. */
typedef struct each_rows {
    out *out;
    const char *file;
} each_rows;

/* Returns what writes the rows. e is borrowed; its file is that of the trace that is read. */
statistics_each each_to(each_rows *e);

#endif
