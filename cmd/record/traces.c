/*
 * traces.c - the traces that are written: one of all processes, or one of each.
 */
#include "cmd/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/verb.h"

trace_output *trace_new(processes *p)
{
    trace_output *t = calloc(1, sizeof *t);
    if (t) {
        t->names.files = p->files;
        t->names.several = p->follows && !p->separate;
        t->names.wait = (waiting){processes_take_all, p, signals_want_end_now};
    }
    return t;
}

void trace_free(trace_output *t)
{
    if (!t)
        return;
    replay_free(t->replay); /* if the program could not be executed; else it has ended */
    names_free(&t->names);
    free(t->path);
    free(t);
}

bool trace_open(processes *p, trace_output *t, const char *path, output *to, uint64_t begin)
{
    if (!(t->path = strdup(path))) {
        diag_error("out of memory [system.memory]");
        return false;
    }
    t->output = to;
    if (!to) {
        t->own.packing = p->packing;
        t->own.group = ++p->opened;
        t->output = &t->own;
        if (output_open(&t->own, path, true) != EXIT_SOUND)
            return false;
    }
    t->replay = replay_new(&t->names, p->version, begin, p->flight_ns, &t->output->out);
    if (t->replay)
        replay_use_switches(t->replay, p->switches);
    return t->replay;
}

void trace_move(trace_output *t, const char *path)
{
    char *copy = strdup(path);
    if (copy && strcmp(path, t->path) != 0 && output_move(t->output, path)) {
        free(t->path);
        t->path = copy;
    } else {
        free(copy);
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

void trace_add_losses(trace_output *t, const source *s)
{
    if (s->fault) {
        t->damaged = true;
        diag_warning(t->path,
                     "process %d has damaged the memory that it shares with the recorder (%s): "
                     "recording it ended early",
                     (int)s->pid, s->fault);
        return; /* the counts may be damaged too */
    }
    t->losses.threads += s->shared->lost;
    t->losses.calls += s->shared->left;
    t->losses.samples += s->shared->samples_lost;
    t->losses.unseen += replay_sees_waits(t->replay) ? 0 : s->unseen;
    t->losses.stacks += s->lost_stacks;
}

/* Warns of what is not in the trace, or not as it was. */
static void note_losses(const trace_output *t)
{
    const losses *l = &t->losses;
    if (l->threads > 0)
        diag_warning(t->path, "threads that were not recorded: %zu (at most %d are at a time)",
                     l->threads, RING_SLOTS);
    if (l->calls > 0)
        diag_warning(t->path,
                     "calls that may not be recorded, since a signal handler jumped out of them: "
                     "%zu",
                     l->calls);
    if (l->late > 0 && !t->damaged)
        diag_warning(t->path, "events that are shown later than they were: %zu", l->late);
    if (l->samples > 0)
        diag_warning(t->path,
                     "CPU samples that were lost, since a call was being recorded or there was no "
                     "room: %zu",
                     l->samples);
    if (l->unseen > 0)
        diag_warning(t->path,
                     "threads whose waits in libgomp (OpenMP) are not seen, and are shown as "
                     "running: %zu, and those that created them",
                     l->unseen);
    if (l->stacks > 0)
        diag_warning(t->path, "stacks that were not recorded, since there are too many: %zu",
                     l->stacks);
}

/* ---- end ------------------------------------------------------------------------------------- */

int trace_end(trace_output *t, uint64_t ended)
{
    if (!t->replay)
        return EXIT_SOUND;
    if (t->names.wait.stops() || replay_is_cut(t->replay))
        diag_warning(t->path, "a signal ended recording: the last events are not in the trace");
    const replay_losses lost = replay_lost(t->replay);
    t->losses.late += lost.late;
    t->losses.samples += lost.samples;
    int status = replay_end(t->replay, ended);
    t->replay = NULL;
    if (t->output == &t->own) {
        int written = output_close(&t->own, status == EXIT_SOUND);
        status = status == EXIT_SOUND ? written : status;
    }
    note_losses(t);
    return status;
}

/* Each appears when it is complete. */
void trace_snapshot(processes *p, trace_output *t)
{
    output to = {.group = ++p->opened};
    char *path = NULL;
    if (!t->replay)
        return;
    if (asprintf(&path, "%s.%u", t->path, ++t->snapshots) < 0) {
        diag_error("out of memory: there is no snapshot [system.memory]");
        return;
    }
    if (output_open(&to, path, true) == EXIT_SOUND) {
        const bool good = replay_snapshot(t->replay, &to.out);
        if (!good && !to.out.failed)
            diag_error("%s: out of memory: there is no snapshot [system.memory]", path);
        output_close(&to, good);
    }
    free(path);
}
