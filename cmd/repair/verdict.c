/* verdict.c - the reader's verdict on a trace in memory. */
#include "cmd/repair/verdict.h"

static bool on_problem(void *ctx, const gotrace_error *problem)
{
    const verdict_listener *l = ctx;
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

gotrace_config verdict_config(const gotrace_config *user, verdict_listener *l)
{
    *l->v = (verdict){.sound = true};
    gotrace_config config = {.on_problem = on_problem, .callback_ctx = l, .every_problem = true};
    if (user) {
        config.allocator = user->allocator;
        config.limits = user->limits;
        config.spool_dir = user->spool_dir;
        config.threads = user->threads;
    }
    return config;
}

/* Add the reason why reading failed, if it did. False if that is a system error. */
static bool settle(const verdict_listener *l, const gotrace_error *failure, gotrace_error *error)
{
    verdict *v = l->v;
    if (failure->rule == GOTRACE_RULE_NONE)
        return true;
    v->sound = false;
    v->first = *failure;
    if (l->each)
        l->each(l->ctx, failure);
    if (v->counts[failure->rule] == 0)
        v->counts[failure->rule] = 1;
    if (failure->class_ == GOTRACE_CLASS_SYSTEM)
        *error = *failure;
    return failure->class_ != GOTRACE_CLASS_SYSTEM;
}

bool verdict_each(gotrace_source *source, const gotrace_config *user, verdict_problem_fn each,
                  void *ctx, verdict *v, gotrace_error *error)
{
    verdict_listener l = {v, each, ctx};
    const gotrace_config config = verdict_config(user, &l);
    gotrace_reader *reader = NULL;
    gotrace_error failure = {.rule = GOTRACE_RULE_NONE};
    if (gotrace_reader_open(source, &config, &reader, &failure) >= 0) {
        if (gotrace_reader_check(reader) == GOTRACE_ERROR)
            failure = *gotrace_reader_error(reader);
        v->events = gotrace_reader_summary(reader)->events;
        v->timed_records = gotrace_reader_summary(reader)->timed_records;
    }
    gotrace_reader_close(reader);
    return settle(&l, &failure, error);
}

bool verdict_of(const void *bytes, size_t size, const gotrace_config *user, verdict *v,
                gotrace_error *error)
{
    verdict_listener l = {.v = v};
    const gotrace_config config = verdict_config(user, &l);
    gotrace_source *source = NULL;
    gotrace_error failure = {.rule = GOTRACE_RULE_NONE};
    if (gotrace_source_memory(bytes, size, &config, &source, &failure) < 0)
        return settle(&l, &failure, error);
    bool done = verdict_each(source, user, NULL, NULL, v, error);
    gotrace_source_close(source);
    return done;
}
