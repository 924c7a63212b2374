#include "formats/common/processes.h"

#include <stdio.h>
#include <string.h>

/* Of a message that is not cut. */
enum { LONGEST = 256 };

/* More processes than that are not distinguished: goroutine ids beyond are of no process. */
enum { MOST = 1000000 };

void processes_init(process_table *p)
{
    p->failed = false;
    idmap_init(&p->known, sizeof(process));
}

void processes_free(process_table *p)
{
    idmap_free(&p->known);
}

static bool is_message(const gotrace_event *e, const gotrace_details *d)
{
    return e->kind == GOTRACE_KIND_LOG && d->text_size == strlen(PROCESSES_LOG) &&
           memcmp(d->text, PROCESSES_LOG, d->text_size) == 0 && d->message_size < LONGEST;
}

bool processes_learn(process_table *p, const gotrace_event *e, uint64_t *number)
{
    if (e->kind != GOTRACE_KIND_LOG)
        return false;
    const gotrace_details *d = gotrace_event_details(e);
    char text[LONGEST];
    int pid, parent, name = 0;
    unsigned long long first, last;
    if (!is_message(e, d))
        return false;
    memcpy(text, d->message, d->message_size);
    text[d->message_size] = '\0';
    if (sscanf(text, "pid %d, parent %d, goroutines %llu to %llu, %n", &pid, &parent, &first, &last,
               &name) != 4 ||
        name == 0 || first % PROCESSES_WIDTH != 0 || last != first + PROCESSES_WIDTH - 1 ||
        first / PROCESSES_WIDTH >= MOST)
        return false;
    *number = first / PROCESSES_WIDTH;
    process *found = idmap_insert(&p->known, *number);
    if (!found) {
        p->failed = true;
        return false;
    }
    found->pid = pid;
    snprintf(found->name, sizeof found->name, "%.*s", PROCESSES_NAME - 1, text + name);
    return true;
}

bool processes_are(const process_table *p)
{
    return p->known.count > 0;
}

uint64_t processes_number(const process_table *p, uint64_t goroutine)
{
    const uint64_t number = goroutine / PROCESSES_WIDTH;
    return processes_are(p) && number < MOST ? number : 0;
}

const process *processes_at(const process_table *p, uint64_t number)
{
    return idmap_find(&p->known, number);
}
