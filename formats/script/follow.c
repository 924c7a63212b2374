/* follow.c - see follow.h. */
#include "formats/script/follow.h"

#include <string.h>

/* What a goroutine did last. */
typedef struct goroutine {
    char name[40]; /* of the function that it started with; empty if the script does not say */
    const char *did;
    uint64_t line;
} goroutine;

/* Whom an event changes: the goroutine that it names, or the one in whose context it is. */
typedef enum whom { THE_NAMED, THE_RUNNING } whom;

typedef struct change {
    const char *event; /* events whose names begin so; the first row counts */
    const char *did;
    whom whom;
    bool starts, leaves; /* the goroutine starts to run there; what runs there no longer does */
} change;

static const change changes[] = {
    {"GoCreate", "created", THE_NAMED, false, false},
    {"GoStart", "started", THE_NAMED, true, false},
    {"GoSwitch", "started", THE_NAMED, true, false},
    {"GoUnblock", "unblocked", THE_NAMED, false, false},
    {"GoWaiting", "waiting", THE_NAMED, false, false},
    {"GoInSyscall", "in a system call", THE_NAMED, false, false},
    {"GoStatus", "described", THE_NAMED, false, false},
    {"GoEnd", "ended", THE_RUNNING, false, true},
    {"GoDestroy", "ended", THE_RUNNING, false, true},
    {"GoStop", "stopped", THE_RUNNING, false, true},
    {"GoSched", "stopped", THE_RUNNING, false, true},
    {"GoPreempt", "stopped", THE_RUNNING, false, true},
    {"GoSleep", "put to sleep", THE_RUNNING, false, true},
    {"GoBlock", "blocked", THE_RUNNING, false, true},
    {"GoSysCall", "in a system call", THE_RUNNING, false, false},
    {"GoSyscallBegin", "in a system call", THE_RUNNING, false, false},
    {"GoSysBlock", "blocked in a system call", THE_RUNNING, false, true},
    {"GoSysExit", "back from a system call", THE_NAMED, false, false},
    {"GoSyscallEndBlocked", "back from a system call", THE_RUNNING, false, true},
    {"GoSyscallEnd", "back from a system call", THE_RUNNING, false, false},
};

static const change *change_of(const char *event)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strncmp(event, changes[i].event, strlen(changes[i].event)) == 0)
            return &changes[i];
    return NULL;
}

void script_follow_init(script_follow *f)
{
    idmap_init(&f->goroutines, sizeof(goroutine));
    idmap_init(&f->running, sizeof(uint64_t));
    idmap_init(&f->doubts, 1);
}

void script_follow_free(script_follow *f)
{
    idmap_free(&f->goroutines);
    idmap_free(&f->running);
    idmap_free(&f->doubts);
}

/* ---- what happened -------------------------------------------------------------------------- */

void script_follow_start(script_follow *f, const gotrace_frame *frame)
{
    size_t size = frame ? frame->function_size : 0, room = sizeof f->start - 1;
    f->start[0] = '\0';
    if (size == 0)
        return;
    /* The end of a long name says more than the package it begins with. */
    size_t skip = size > room ? size - room + strlen("...") : 0;
    snprintf(f->start, sizeof f->start, "%s%.*s", skip ? "..." : "", (int)(size - skip),
             frame->function + skip);
}

static uint64_t place_of(const script_job *job, const gotrace_happening *h)
{
    return (uint64_t)(job->version < SCRIPT_V2 ? h->proc : h->thread);
}

/* The goroutine in whose context an event is; 0: none that is known. */
static uint64_t context_of(const script_job *job, const script_follow *f,
                           const gotrace_happening *h)
{
    const uint64_t *running = idmap_find(&f->running, place_of(job, h));
    return h->goroutine != 0 ? h->goroutine : running ? *running : 0;
}

static bool set_goroutine(script_follow *f, uint64_t id, const char *did, uint64_t line)
{
    goroutine *g = idmap_insert(&f->goroutines, id);
    if (!g)
        return false;
    g->did = did;
    g->line = line;
    return true;
}

static bool set_running(script_follow *f, uint64_t place, uint64_t id)
{
    uint64_t *running = idmap_insert(&f->running, place);
    if (running)
        *running = id;
    return running != NULL;
}

/* A goroutine ended: it is kept for a while, because a script may use it again by mistake. */
static void keep_ended(script_follow *f, uint64_t id)
{
    uint64_t *slot = &f->ended[f->ended_count % SCRIPT_ENDED];
    const goroutine *oldest = idmap_find(&f->goroutines, *slot);
    if (f->ended_count++ >= SCRIPT_ENDED && oldest && strcmp(oldest->did, "ended") == 0)
        idmap_remove(&f->goroutines, *slot);
    *slot = id;
}

/* Where goroutines run after an event that changes that. */
static bool move(script_job *job, script_follow *f, const gotrace_happening *h, const change *c)
{
    uint64_t place = place_of(job, h);
    if (c->leaves) {
        idmap_remove(&f->running, place);
        return true;
    }
    /* From here on it is known again who runs there. */
    idmap_remove(&f->doubts, place << 3 | DOUBT_THREAD);
    idmap_remove(&f->doubts, (uint64_t)h->proc << 3 | DOUBT_PROC);
    return set_running(f, place, h->args[0]);
}

bool script_follow_event(script_job *job, script_follow *f, const gotrace_happening *h,
                         uint64_t line)
{
    const change *c = change_of(h->spec->name);
    uint64_t context = context_of(job, f, h), id = context;
    f->latest_line = line;
    if (context != 0 && !idmap_find(&f->goroutines, context) &&
        !set_goroutine(f, context, "first seen", line))
        return false;
    if (!(c && c->starts) && h->goroutine != 0 && !set_running(f, place_of(job, h), context))
        return false;
    if (!c)
        return true;
    if ((c->starts || c->leaves) && !move(job, f, h, c))
        return false;
    if (c->whom == THE_NAMED)
        id = h->arg_count > 0 ? h->args[0] : 0;
    if (id == 0)
        return true;
    if (strcmp(c->did, "ended") == 0)
        keep_ended(f, id);
    if (!set_goroutine(f, id, c->did, line))
        return false;
    goroutine *g = idmap_find(&f->goroutines, id);
    if (f->start[0])
        memcpy(g->name, f->start, sizeof g->name);
    return true;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* The goroutine whose number a message has there; *end is after the number. */
static bool mentions_goroutine(const char *s, uint64_t *id, const char **end)
{
    static const char word[] = "goroutine ";
    if (strncmp(s, word, strlen(word)) != 0)
        return false;
    s += strlen(word);
    for (*id = 0, *end = s; **end >= '0' && **end <= '9'; ++*end)
        *id = *id * 10 + (uint64_t)(**end - '0');
    return *end > s;
}

void script_follow_explain(const script_job *job, const script_follow *f, gotrace_error *error)
{
    char made[2 * sizeof error->message];
    size_t used = 0, room = sizeof made - 1;
    uint64_t id, before = 0;
    const char *s = error->message, *end;
    while (*s && used < room) {
        const goroutine *g = NULL;
        end = s + 1;
        if (mentions_goroutine(s, &id, &end) && id != before)
            g = idmap_find(&f->goroutines, id);
        for (; s < end && used < room; s++)
            made[used++] = *s;
        if (!g)
            continue;
        before = id;
        used += (size_t)snprintf(
            made + used, room - used + 1,
            job->binary ? " (%s%s%s at byte 0x%llx)" : " (%s%s%s at line %llu)", g->name,
            *g->name ? ", " : "", g->did, (unsigned long long)g->line);
        used = used < room ? used : room;
    }
    made[used] = '\0';
    if (used < sizeof error->message)
        memcpy(error->message, made, used + 1);
}

/* ---- doubts --------------------------------------------------------------------------------- */

void script_doubt_id(script_follow *f, script_doubt kind, uint64_t id)
{
    /* Where memory is refused, nothing more is reported. */
    if (!idmap_insert(&f->doubts, id << 3 | kind))
        f->all_in_doubt = true;
}

static bool is_doubted(const script_follow *f, script_doubt kind, uint64_t id)
{
    return idmap_find(&f->doubts, id << 3 | kind) != NULL;
}

/* Whether the n-th argument that the writer takes is an id; of what. */
static bool is_id(const gotrace_arg_spec *arg, script_doubt *kind)
{
    switch ((gotrace_arg_kind)arg->kind) {
    case GOTRACE_ARG_GOROUTINE: *kind = DOUBT_GOROUTINE; return true;
    case GOTRACE_ARG_TASK: *kind = DOUBT_TASK; return true;
    case GOTRACE_ARG_PROC: *kind = DOUBT_PROC; return true;
    case GOTRACE_ARG_THREAD: *kind = DOUBT_THREAD; return true;
    default: return false;
    }
}

void script_doubt_event(const script_job *job, script_follow *f, const gotrace_happening *h,
                        bool whole)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = h->spec ? gotrace_writer_args(h->spec, job->version, args) : 0;
    uint64_t context = context_of(job, f, h);
    const char *name = h->spec ? h->spec->name : "";
    const change *c = change_of(name);
    bool named = false;
    for (size_t i = 0; i < count && i < h->arg_count; i++) {
        script_doubt kind;
        if (!is_id(args[i], &kind))
            continue;
        named = named || kind == DOUBT_GOROUTINE || kind == DOUBT_TASK;
        script_doubt_id(f, kind, h->args[i]);
    }
    /* A refusal is about what the event names, or else about what runs there. */
    if (context != 0 && (whole || !named || (c && c->starts)))
        script_doubt_id(f, DOUBT_GOROUTINE, context);
    if (!whole)
        return;
    script_doubt_id(f, DOUBT_PROC, (uint64_t)h->proc);
    script_doubt_id(f, DOUBT_THREAD, place_of(job, h));
    /* The GC, and what stops the world, are the whole program's. */
    if (strncmp(name, "GC", 2) == 0 || strncmp(name, "STW", 3) == 0)
        f->all_in_doubt = true;
}

bool script_in_doubt(const script_job *job, const script_follow *f, const gotrace_happening *h)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_writer_args(h->spec, job->version, args);
    bool doubted = f->all_in_doubt || is_doubted(f, DOUBT_PROC, (uint64_t)h->proc) ||
                   is_doubted(f, DOUBT_THREAD, place_of(job, h)) ||
                   is_doubted(f, DOUBT_GOROUTINE, context_of(job, f, h));
    for (size_t i = 0; i < count && i < h->arg_count && !doubted; i++) {
        script_doubt kind;
        doubted = is_id(args[i], &kind) && is_doubted(f, kind, h->args[i]);
    }
    return doubted;
}
