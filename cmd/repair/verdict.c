/* verdict.c - the reader's verdict on a trace in memory. */
#include "cmd/repair/verdict.h"

typedef struct listener {
    verdict *v;
    verdict_problem_fn each;
    void *ctx;
} listener;

static bool on_problem(void *ctx, const gotrace_error *problem)
{
    const listener *l = ctx;
    verdict *v = l->v;
    if (l->each && problem->severity >= GOTRACE_PROBLEM)
        l->each(l->ctx, problem);
    if (problem->severity >= GOTRACE_WARNING)
        v->counts[problem->rule]++;
    if (problem->severity >= GOTRACE_PROBLEM && v->sound) {
        v->first = *problem;
        v->sound = false;
    }
    return true;
}

static gotrace_status read_all(gotrace_reader *reader, uint64_t *given)
{
    const gotrace_event *event;
    gotrace_status status;
    while ((status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT)
        ++*given;
    return status;
}

bool verdict_each(const void *bytes, size_t size, const gotrace_config *user,
                  verdict_problem_fn each, void *ctx, verdict *v, gotrace_error *error)
{
    listener l = {v, each, ctx};
    gotrace_config config = {.on_problem = on_problem, .callback_ctx = &l, .every_problem = true};
    if (user) {
        config.allocator = user->allocator;
        config.limits = user->limits;
        config.spool_dir = user->spool_dir;
    }
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    gotrace_error failure = {.rule = GOTRACE_RULE_NONE};
    *v = (verdict){.sound = true};
    if (gotrace_source_memory(bytes, size, &config, &source, &failure) < 0 ||
        gotrace_reader_open(source, &config, &reader, &failure) < 0)
        v->sound = false;
    else if (read_all(reader, &v->given) == GOTRACE_ERROR)
        failure = *gotrace_reader_error(reader);
    if (reader)
        v->events = gotrace_reader_summary(reader)->events;
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    if (failure.rule != GOTRACE_RULE_NONE) {
        v->sound = false;
        v->first = failure;
        if (each)
            each(ctx, &failure);
        if (v->counts[failure.rule] == 0)
            v->counts[failure.rule] = 1;
    }
    if (failure.class_ != GOTRACE_CLASS_SYSTEM)
        return true;
    *error = failure;
    return false;
}

bool verdict_of(const void *bytes, size_t size, const gotrace_config *user, verdict *v,
                gotrace_error *error)
{
    return verdict_each(bytes, size, user, NULL, NULL, v, error);
}
