/* follow.c - see follow.h. It follows lines of a script, before they are events that a reader or
 * analyse/states.h could follow, and wrong ones too. */
#include "formats/script/follow.h"

#include <string.h>

#include "formats/common/rows_by_meaning.h"

/* The last event of a goroutine. */
typedef struct goroutine {
    char name[40]; /* of its start function; empty if unknown */
    const char *did;
    uint64_t line;
} goroutine;

/* The effect of an event, as far as messages mention it. */
typedef struct change {
    const char *did; /* NULL: no effect on a goroutine's state */
    bool to_named; /* affects the goroutine in its argument, else the one in whose context it is */
    bool starts, leaves; /* the goroutine starts to run there; what runs there stops */
} change;

static bool changes(gotrace_change c)
{
    return c.from != c.to;
}

static const char *named_did(gotrace_change c)
{
    if (c.from == GOTRACE_STATE_NOT_EXIST)
        return "created";
    if (c.to == GOTRACE_STATE_RUNNING)
        return "started";
    if (c.from == GOTRACE_STATE_SYSCALL)
        return "back from a system call";
    if (c.to == GOTRACE_STATE_SYSCALL)
        return "in a system call";
    return c.to == GOTRACE_STATE_WAITING ? "waiting" : "unblocked";
}

static const char *running_did(const gotrace_semantics *s, bool leaves)
{
    if (s->self.to == GOTRACE_STATE_NOT_EXIST)
        return "ended";
    if (s->self.from == GOTRACE_STATE_SYSCALL)
        return "back from a system call";
    if (s->self.to == GOTRACE_STATE_SYSCALL)
        return leaves ? "blocked in a system call" : "in a system call";
    if (s->self.to == GOTRACE_STATE_RUNNABLE || s->forever)
        return "stopped";
    return s->text && strcmp(s->text, "sleep") == 0 ? "put to sleep" : "blocked";
}

static change change_of(const gotrace_event_spec *spec)
{
    const gotrace_semantics *s = spec->semantics;
    if (s->full != 0)
        s = gotrace_event_spec_of(GOTRACE_FIRST_V2 - 1, s->full)->semantics;
    if (s->kind == GOTRACE_KIND_SYSCALL)
        return (change){.did = "in a system call"};
    if (s->kind != GOTRACE_KIND_TRANSITION || s->resource != GOTRACE_RESOURCE_GOROUTINE)
        return (change){.did = NULL};
    if (s->status)
        return (change){.did = "described", .to_named = true};
    if (changes(s->other))
        return (change){.did = named_did(s->other), .to_named = true, .starts = row_starts(s)};
    /* After the event of a blocking system call in v1 the goroutine has no proc. In v2 it keeps its
     * thread during the call. */
    bool keeps = s->self.to == GOTRACE_STATE_SYSCALL && changes(s->proc);
    bool leaves = !keeps && s->self.to != GOTRACE_STATE_RUNNING;
    return (change){.did = running_did(s, leaves), .leaves = leaves};
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

/* ---- updates --------------------------------------------------------------------------------- */

void script_follow_start(script_follow *f, const gotrace_frame *frame)
{
    size_t size = frame ? frame->function_size : 0, room = sizeof f->start - 1;
    f->start[0] = '\0';
    if (size == 0)
        return;
    /* Of a long name, the end is more useful than the package. */
    size_t skip = size > room ? size - room + strlen("...") : 0;
    snprintf(f->start, sizeof f->start, "%s%.*s", skip ? "..." : "", (int)(size - skip),
             frame->function + skip);
}

static uint64_t place_of(const script_job *job, const gotrace_event_data *h)
{
    return (uint64_t)(job->version < GOTRACE_FIRST_V2 ? h->proc : h->thread);
}

/* The goroutine in whose context the event is; 0: unknown. */
static uint64_t context_of(const script_job *job, const script_follow *f,
                           const gotrace_event_data *h)
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

/* Keeps a goroutine that ended for a while, because a script may use it again by mistake. */
static void remember_ended(script_follow *f, uint64_t id)
{
    uint64_t *slot = &f->ended[f->ended_count % SCRIPT_ENDED];
    const goroutine *oldest = idmap_find(&f->goroutines, *slot);
    if (f->ended_count++ >= SCRIPT_ENDED && oldest && strcmp(oldest->did, "ended") == 0)
        idmap_remove(&f->goroutines, *slot);
    *slot = id;
}

/* Updates which goroutine runs where. */
static bool move(script_job *job, script_follow *f, const gotrace_event_data *h, const change *c)
{
    uint64_t place = place_of(job, h);
    if (c->leaves) {
        idmap_remove(&f->running, place);
        return true;
    }
    /* It is known again which goroutine runs there. */
    idmap_remove(&f->doubts, place << 3 | DOUBT_THREAD);
    idmap_remove(&f->doubts, (uint64_t)h->proc << 3 | DOUBT_PROC);
    return set_running(f, place, h->args[0]);
}

bool script_follow_event(script_job *job, script_follow *f, const gotrace_event_data *h,
                         uint64_t line)
{
    const change c = change_of(h->spec);
    uint64_t context = context_of(job, f, h), id = context;
    f->latest_line = line;
    if (context != 0 && !idmap_find(&f->goroutines, context) &&
        !set_goroutine(f, context, "first seen", line))
        return false;
    if (!c.starts && h->goroutine != 0 && !set_running(f, place_of(job, h), context))
        return false;
    if (!c.did)
        return true;
    if ((c.starts || c.leaves) && !move(job, f, h, &c))
        return false;
    if (c.to_named)
        id = h->arg_count > 0 ? h->args[0] : 0;
    if (id == 0)
        return true;
    if (strcmp(c.did, "ended") == 0)
        remember_ended(f, id);
    if (!set_goroutine(f, id, c.did, line))
        return false;
    goroutine *g = idmap_find(&f->goroutines, id);
    if (f->start[0])
        memcpy(g->name, f->start, sizeof g->name);
    return true;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* The goroutine number at this place of a message; *end is set to the position after it. */
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

/* ---- doubtful ids ---------------------------------------------------------------------------- */

void script_doubt_id(script_follow *f, script_doubt kind, uint64_t id)
{
    /* If memory is refused, no further error is reported. */
    if (!idmap_insert(&f->doubts, id << 3 | kind))
        f->all_in_doubt = true;
}

static bool is_doubted(const script_follow *f, script_doubt kind, uint64_t id)
{
    return idmap_find(&f->doubts, id << 3 | kind) != NULL;
}

/* Whether this argument is an id, and of what kind. */
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

void script_doubt_event(const script_job *job, script_follow *f, const gotrace_event_data *h,
                        bool whole)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = h->spec ? gotrace_writer_args(h->spec, job->version, args) : 0;
    uint64_t context = context_of(job, f, h);
    const change c = h->spec ? change_of(h->spec) : (change){.did = NULL};
    bool named = false;
    for (size_t i = 0; i < count && i < h->arg_count; i++) {
        script_doubt kind;
        if (!is_id(args[i], &kind))
            continue;
        named = named || kind == DOUBT_GOROUTINE || kind == DOUBT_TASK;
        script_doubt_id(f, kind, h->args[i]);
    }
    /* A refusal concerns the ids in the arguments or, without any, the goroutine in whose context
     * the event is. */
    if (context != 0 && (whole || !named || c.starts))
        script_doubt_id(f, DOUBT_GOROUTINE, context);
    if (!whole)
        return;
    script_doubt_id(f, DOUBT_PROC, (uint64_t)h->proc);
    script_doubt_id(f, DOUBT_THREAD, place_of(job, h));
    /* GC cycles and stop-the-world concern the whole program. */
    if (h->spec && h->spec->semantics->range != GOTRACE_RANGE_NONE)
        f->all_in_doubt = true;
}

bool script_in_doubt(const script_job *job, const script_follow *f, const gotrace_event_data *h)
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
