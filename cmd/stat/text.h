/* text.h - parts of the report for people, for its sections and its first screen. */
#ifndef CMD_STAT_TEXT_H
#define CMD_STAT_TEXT_H

#include "cmd/stat/report.h"

/* Begins a table, with the file that it is of. */
void text_title(report *r, const char *title);
/* " of N" where a table does not show all. Returns how many rows it shows: at most that many, 0:
 * all. */
size_t text_most(report *r, size_t count, uint64_t most);
/* The columns of values, and their titles with the end of the line. */
void text_values(report *r, const histogram *h, uint64_t zeros);
void text_values_title(report *r);

/* " in FILE" if there are several. */
void text_file(report *r, uint32_t trace);
void text_name(report *r, uint32_t name);
/* A duration in a column, and in a sentence. */
void text_duration(report *r, int64_t ns);
void text_fact(report *r, const char *before, int64_t ns);

/* What a trace is, in a line. */
void text_trace(report *r, const trace_figure *t);
/* What the procs do over time. */
void text_load(report *r, const trace_figure *t);
void text_silences(report *r, const silence_figure *f);
/* "; 1 unfinished, at least 1.001 ms" */
void text_partial(report *r, const char *before, const partial_figure *f);
/* The share of the procs that the collector takes, and the heap, each after that text. */
void text_gc_share(report *r, const char *before, const trace_figure *t);
void text_heap(report *r, const char *before, const heap_figure *f);
/* A table of stacks; only: of that reason; 0: all. */
void text_by_stack(report *r, uint8_t state, uint32_t only, const char *title);
/* The table of tasks or regions; slowest: with the slowest of each. */
void text_spans(report *r, const figures *f, const char *title, const char *id, bool slowest);
void text_samples(report *r);

#endif
