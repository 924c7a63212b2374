/*
 * goroutines.c - threads as goroutines: each has a proc while it does not wait.
 */
#include "cmd/record/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/processes.h"

enum { LABEL_SIZE = RING_NAME_SIZE + sizeof "thread " };
#define NO_PROCESS UINT64_C(1000000000000) /* ids of goroutines from that one on */

/* ---- procs ----------------------------------------------------------------------------------- */

static bool add_proc(replay *r)
{
    if (r->proc_count == r->proc_capacity) {
        unsigned capacity = r->proc_capacity ? 2 * r->proc_capacity : 16;
        proc *grown = reallocarray(r->procs, capacity, sizeof *grown);
        if (!grown)
            return false;
        r->procs = grown;
        r->proc_capacity = capacity;
    }
    r->procs[r->proc_count] = (proc){gotrace_rec_proc_new(r->recorder, r->proc_count), false};
    r->proc_count++;
    return true;
}

void goroutine_take_proc(replay *r, thread *t)
{
    unsigned i = t->has_proc ? t->proc : 0;
    while (!t->has_proc && i < r->proc_count && r->procs[i].taken)
        i++;
    if (i == r->proc_count && !add_proc(r)) {
        r->failed = true;
        return;
    }
    r->procs[i].taken = true;
    t->proc = i;
    t->has_proc = true;
    gotrace_rec_proc_start(t->rec, r->procs[i].rec);
}

void goroutine_release_proc(replay *r, thread *t)
{
    if (!t->has_proc)
        return;
    gotrace_rec_proc_stop(t->rec);
    r->procs[t->proc].taken = false;
    t->has_proc = false;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The label of the goroutine; it has one. Go's readers take goroutines with labels that begin with
 * "GC " for workers of the garbage collector (internal/trace/gc.go): Java's "GC Thread#0" is none.
 */
static const char *label_of(const thread *t, char text[LABEL_SIZE])
{
    snprintf(text, LABEL_SIZE, "%s%s", strncmp(t->name, "GC ", 3) == 0 ? "thread " : "", t->name);
    return text;
}

/* Each generation has the labels again: a flight recorder drops earlier ones. */
static void label(replay *r, thread *t)
{
    char text[LABEL_SIZE];
    if (!t->name[0] || t->labelled || r->version < GOTRACE_FIRST_V2)
        return;
    gotrace_rec_go_label(t->rec, label_of(t, text));
    t->labelled = true;
}

/* The thread has a proc. */
static void start_there(const replay *r, thread *t)
{
    char text[LABEL_SIZE];
    if (t->name[0] && r->version < GOTRACE_FIRST_V2)
        gotrace_rec_go_start_label(t->rec, t->go, label_of(t, text));
    else
        gotrace_rec_go_start(t->rec, t->go);
    t->state = THREAD_RUNNING;
}

static void start(replay *r, thread *t)
{
    goroutine_take_proc(r, t);
    start_there(r, t);
}

/* No thread woke it, but time, a signal, the network, ...: it became runnable at that time, which
 * is in the past. Before 1.22 events without a proc are in one order, and it is runnable from now
 * on. */
static void unpark(replay *r, thread *t, uint64_t since)
{
    const uint64_t now = r->now;
    const uint64_t least = t->wait.time > r->generation ? t->wait.time : r->generation;
    since = since > least ? since : least + 1;
    if (r->version < GOTRACE_FIRST_V2 || since >= now) {
        goroutine_take_proc(r, t);
        gotrace_rec_go_unpark(t->rec, t->go, NULL, 0);
        return;
    }
    atomic_store_explicit(&r->now, since, memory_order_relaxed);
    gotrace_rec_go_unpark(t->rec, t->go, NULL, 0);
    atomic_store_explicit(&r->now, now, memory_order_relaxed);
    goroutine_take_proc(r, t);
}

void goroutine_was_delayed(thread *t, uint64_t until)
{
    t->delayed += until > t->woken ? until - t->woken : 0;
}

void goroutine_resume(replay *r, thread *t, uint64_t since)
{
    switch (t->state) {
    case THREAD_CALLS:
        gotrace_rec_go_sys_exit(t->rec);
        if (t->has_proc)
            t->state = THREAD_RUNNING;
        else
            start(r, t);
        break;
    case THREAD_WAITS:
        unpark(r, t, since);
        start_there(r, t);
        break;
    case THREAD_WOKEN: start(r, t); break;
    case THREAD_NEW:
    case THREAD_CREATED:
    case THREAD_RUNNING:
    case THREAD_ENDED: break;
    }
}

static void end_goroutine(replay *r, thread *t)
{
    if (t->state == THREAD_CREATED && t->rec)
        start(r, t);
    off_show(r, t, r->now);
    goroutine_resume(r, t, r->now);
    if (t->state == THREAD_RUNNING) {
        gotrace_rec_go_end(t->rec);
        goroutine_release_proc(r, t);
    }
    t->state = THREAD_ENDED;
}

void goroutine_end(replay *r, thread *t)
{
    const bool lives = t->rec && t->state != THREAD_ENDED;
    end_goroutine(r, t);
    if (lives && t->rec != t->of->first)
        gotrace_rec_thread_end(t->rec);
}

void goroutine_end_process(replay *r, source *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->threads[i]->rec)
            goroutine_end(r, s->threads[i]);
    for (size_t i = 0; i < s->count; i++) {
        thread *t = s->threads[i];
        if (t->state == THREAD_CREATED) { /* it did not begin: the first thread ends it */
            t->rec = s->first;
            goroutine_end(r, t);
        }
    }
    gotrace_rec_thread_end(s->first);
}

/* The process executes another program: its threads have ended. */
static void end_image(replay *r, source *s, uint32_t image)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->threads[i]->image < image)
            goroutine_end(r, s->threads[i]);
    s->image = image;
    s->declared = false;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The id of a new goroutine. In a trace of several processes, each has a range of them; those of a
 * process beyond its range are of no process. */
static uint64_t new_id(replay *r, source *s)
{
    if (!r->names->several)
        return ++r->goroutine;
    if (s->last_goroutine == 0) {
        s->goroutine = r->process++ * PROCESSES_WIDTH;
        s->last_goroutine = s->goroutine + PROCESSES_WIDTH - 1;
    }
    return s->goroutine < s->last_goroutine ? ++s->goroutine : NO_PROCESS + ++r->goroutine;
}

/* Says which process has which goroutines; the thread runs. */
static void declare(replay *r, const thread *t, source *s)
{
    char text[RING_NAME_SIZE + 128];
    snprintf(text, sizeof text, PROCESSES_FORMAT, (int)s->pid, (int)s->parent,
             (unsigned long long)(s->last_goroutine - (PROCESSES_WIDTH - 1)),
             (unsigned long long)s->last_goroutine, names_program(r->names, s->images[s->image]));
    gotrace_rec_log(t->rec, 0, PROCESSES_LOG, text, NULL, 0);
    s->declared = true;
}

void goroutine_describe(replay *r, thread *t)
{
    if (t->state != THREAD_RUNNING)
        return;
    label(r, t);
    for (size_t i = 0; r->names->several && i < r->source_count; i++)
        if (!r->sources[i]->declared && r->sources[i]->last_goroutine > 0)
            declare(r, t, r->sources[i]);
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* An address in that program, which has that number in the shared memory of the process. */
static uint64_t start_pc(const source *s, uint64_t address, uint32_t image)
{
    return address ? (address & PC_MASK) | (uint64_t)s->images[image] << PC_IMAGE_SHIFT : 0;
}

/* The thread of that id that lives; NULL: none. The kernel uses the id again of one that has ended,
 * perhaps without notice. */
static gotrace_rec_thread *take_over(replay *r, uint64_t tid)
{
    thread *t = NULL;
    for (size_t i = 0; i < r->source_count && !t; i++)
        t = objects_thread(r->sources[i], tid);
    if (!t)
        return NULL;
    end_goroutine(r, t);
    return t->rec;
}

/* The id of the first thread, that of the process, is also that of the next program's. */
static gotrace_rec_thread *new_thread(replay *r, source *s, uint64_t tid)
{
    const bool first = tid == (uint64_t)s->pid;
    gotrace_rec_thread *created = take_over(r, tid);
    if (first && s->first)
        return s->first;
    if (!created)
        created = gotrace_rec_thread_new(r->recorder, tid);
    if (first)
        s->first = created;
    return created;
}

/* Where a thread begins that was not seen to be created; 0: unknown. */
static uint64_t entry_of(replay *r, const thread *t, const item *i)
{
    if (i->record.type == RING_ATTACH && i->record.flags == 0)
        return start_pc(t->of, names_main(r->names, t->of->images[t->image]), t->image);
    return names_thread(r->names, i->stack ? i->stack->pcs[0] : 0, t->name);
}

/* Before 1.22 readers take what is before the number of procs for the state in which the program
 * was when tracing began (formats/analyse/states.h): it was not running yet. */
static void begin_trace(replay *r, const thread *t)
{
    if (r->version < GOTRACE_FIRST_V2 && !r->begun)
        gotrace_rec_gomaxprocs(t->rec, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), NULL, 0);
    r->begun = true;
}

/* A signal handler may have left the writing of the record, and so it may come twice. */
void goroutine_begin(replay *r, thread *t, const item *i)
{
    const uint64_t tid = i->record.object;
    if (t->rec)
        return;
    if (t->image > t->of->image)
        end_image(r, t->of, t->image);
    t->rec = new_thread(r, t->of, tid);
    t->tid = tid;
    if (t->state == THREAD_CREATED) {
        goroutine_was_delayed(t, i->record.time);
        start(r, t);
        return;
    }
    uint64_t entry = entry_of(r, t, i);
    goroutine_take_proc(r, t);
    begin_trace(r, t);
    t->number = new_id(r, t->of);
    t->go = gotrace_rec_go_create(t->rec, t->number, entry, NULL, 0);
    gotrace_rec_go_start(t->rec, t->go);
    t->state = THREAD_RUNNING;
    goroutine_describe(r, t);
}

void goroutine_create(replay *r, thread *t, const item *i)
{
    thread *created = i->other;
    if (!created || created->state != THREAD_NEW)
        return;
    created->number = new_id(r, t->of);
    created->go = gotrace_rec_go_create(t->rec, created->number,
                                        start_pc(t->of, i->record.object, t->image),
                                        pcs_of(i->stack), depth_of(i->stack));
    created->state = THREAD_CREATED;
    created->woken = r->now;
    t->of->unseen += names_wait_unseen(r->names, t->of->images[t->image],
                                       (i->record.object & PC_MASK) + 1);
}
