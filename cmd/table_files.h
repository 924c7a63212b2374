/*
 * table_files.h - the files of tables in a folder, which appear together or not at all.
 *
 * Either one file for each table, TABLE.parquet, for all traces; or, as partitions, one for each
 * table and trace, TABLE/trace=NAME/TABLE.parquet. The files of a trace then appear when it is
 * complete.
 */
#ifndef TABLE_FILES_H
#define TABLE_FILES_H

#include "cmd/output.h"

enum { MOST_TABLES = 16 };

typedef struct table_files {
    const char *folder;
    bool partitions;
    const char *trace; /* name of the current one */
    unsigned group;    /* of output files, from 1 on */
    output list[MOST_TABLES];
    size_t count; /* that are open */
    int status;   /* EXIT_SOUND unless one could not be opened */
} table_files;

/* Open the file of a table; NULL after a diagnostic. ctx: a table_files. */
out *table_files_open(void *ctx, const char *table);

/* Close all files that are open, and let them appear if keep. Returns an exit status. */
int table_files_end(table_files *t, bool keep);

/* The names of the traces, which their rows contain: those of the files without their
 * folders, or the paths if two are the same. Returns an exit status, after a diagnostic if it is
 * not EXIT_SOUND; free the names. */
int table_files_names(const char *const *paths, size_t count, const char ***names);

#endif
