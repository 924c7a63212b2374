/*
 * processes.h - the processes of a trace that `gotrace record` has made of several: each has a
 * range of goroutine ids. Log messages contain which process has which.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "formats/common/idmap.h"
#include "gotrace.h"

enum { PROCESSES_WIDTH = 1000000 }; /* goroutine ids of a process */

/* The category of the messages; and what they contain, for printf: the id of the process and of its
 * parent, its first and last goroutine id, and the name of its program. */
#define PROCESSES_LOG    "process"
#define PROCESSES_FORMAT "pid %d, parent %d, goroutines %llu to %llu, %s"

/* Of a program, with its NUL. */
enum { PROCESSES_NAME = 16 };

typedef struct process {
    int pid;                   /* 0: not known yet */
    char name[PROCESSES_NAME]; /* of its last program, as far as is known */
} process;

typedef struct process_table {
    idmap known; /* a process by the number of its range, from 0 on */
    bool failed; /* memory is refused */
} process_table;

void processes_init(process_table *p);
void processes_free(process_table *p);
/* Whether the event is such a message, from which the process with that number is now known. */
bool processes_learn(process_table *p, const gotrace_event *e, uint64_t *number);
/* Whether the trace is of several processes, as far as is known. */
bool processes_are(const process_table *p);
/* The number of the process with that goroutine; 0: that of the first one, or not known. */
uint64_t processes_number(const process_table *p, uint64_t goroutine);
/* NULL: nothing is known of it. */
const process *processes_at(const process_table *p, uint64_t number);

#endif
