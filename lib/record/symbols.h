/*
 * symbols.h - what elfutils' libdw knows about an address. A build without libdw knows nothing.
 */
#ifndef GT_RECORD_SYMBOLS_H
#define GT_RECORD_SYMBOLS_H

#include <stdio.h>

#include "gotrace.h"

enum {
    GT_SYMBOL_FRAMES = 32, /* functions at an address; further callers are left out */
    GT_SYMBOL_NAME = 1024, /* bytes of a name, which is truncated */
};

/* A function at an address; the strings end with NUL. */
typedef struct gt_symbol {
    char function[GT_SYMBOL_NAME];
    const char *file; /* NULL: unknown. Valid as long as the table */
    uint64_t line;
} gt_symbol;

typedef struct gt_dwarf gt_dwarf;

/* NULL: not available. */
gt_dwarf *gt_dwarf_new(void);
/* maps: in the format of /proc/PID/maps. */
void gt_dwarf_read_maps(gt_dwarf *dwarf, FILE *maps);
/* Functions at the address, innermost first; returns their number, 0: unknown. */
size_t gt_dwarf_find(gt_dwarf *dwarf, uint64_t address, gt_symbol *symbols);
void gt_dwarf_free(gt_dwarf *dwarf);

#endif
