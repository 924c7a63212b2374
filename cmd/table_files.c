/* table_files.c - opens the files of tables. */
#include "cmd/table_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/files.h"
#include "cmd/folder.h"
#include "cmd/memory.h"
#include "cmd/verb.h"

/* The characters that Hive escapes in the names of partitions, control characters aside. */
static bool is_escaped(unsigned char c)
{
    return c < ' ' || c == 0x7f || strchr("\"#%'*/:=?\\{[]^", c);
}

/* The name of a partition: other programs find the name of the trace in it. */
static char *escape(const char *name)
{
    char *escaped = malloc(3 * strlen(name) + 1), *to = escaped;
    for (; escaped && *name; name++)
        to += sprintf(to, is_escaped((unsigned char)*name) ? "%%%02X" : "%c", (unsigned char)*name);
    if (escaped)
        *to = '\0';
    return escaped;
}

__attribute__((format(printf, 1, 2))) static char *format_path(const char *format, ...)
{
    va_list args;
    char *path;
    va_start(args, format);
    if (vasprintf(&path, format, args) < 0)
        path = NULL;
    va_end(args);
    if (!path)
        memory_report_refused();
    return path;
}

static bool make_folder(char *path)
{
    bool made = path && folder_make(path);
    free(path);
    return made;
}

/* The path of a table's file, whose folders are created; NULL after a diagnostic. */
static char *make_path(const table_files *t, const char *table)
{
    if (!t->partitions)
        return format_path("%s/%s.parquet", t->folder, table);
    char *path = NULL, *trace = escape(t->trace);
    if (!trace)
        memory_report_refused();
    else if (make_folder(format_path("%s/%s", t->folder, table)) &&
             make_folder(format_path("%s/%s/trace=%s", t->folder, table, trace)))
        path = format_path("%s/%s/trace=%s/%s.parquet", t->folder, table, trace, table);
    free(trace);
    return path;
}

out *table_files_open(void *ctx, const char *table)
{
    table_files *t = ctx;
    if (t->count == MOST_TABLES)
        return NULL;
    output *o = &t->list[t->count];
    char *path = make_path(t, table);
    *o = (output){.group = t->group};
    t->status = path ? output_open(o, path, true) : EXIT_SYSTEM;
    free(path);
    if (t->status != EXIT_SOUND)
        return NULL;
    t->count++;
    /* The tables are written by one thread, which encodes them. */
    o->out.threaded = false;
    return &o->out;
}

int table_files_end(table_files *t, bool keep)
{
    int worst = t->status;
    for (size_t i = 0; i < t->count; i++) {
        int status = output_end(&t->list[i], keep && worst == EXIT_SOUND);
        worst = status > worst ? status : worst;
    }
    int status = output_commit(t->group, keep && worst == EXIT_SOUND);
    t->count = 0;
    t->group++;
    return status > worst ? status : worst;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The first of the names that two have, or NULL. */
static const char *find_equal(const char **names, const char **sorted, size_t count)
{
    memcpy(sorted, names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return sorted[i];
    return NULL;
}

int table_files_names(const char *const *paths, size_t count, const char ***made)
{
    const char **names = *made = malloc(2 * count * sizeof *names);
    if (!names) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = strcmp(paths[i], "-") == 0 ? "standard input" : files_base_name(paths[i]);
    if (!find_equal(names, names + count, count))
        return EXIT_SOUND;
    memcpy(names, paths, count * sizeof *names);
    const char *equal = find_equal(names, names + count, count);
    if (!equal)
        return EXIT_SOUND;
    diag_error("'%s' is given twice: each trace needs a name of its own", equal);
    return EXIT_USAGE;
}
