#include "formats/analyse/places.h"

void places_init(places *p)
{
    *p = (places){0};
    idmap_init(&p->goroutines, sizeof(timeset));
}

void places_free(places *p)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (p->goroutines.count > 0 && idmap_next(&p->goroutines, &cursor, &id, &value))
        timeset_free(value);
    idmap_free(&p->goroutines);
    timeset_free(&p->whole);
}

static bool is_global(const moment *m)
{
    return m->goroutine == 0 || m->kind == MOMENT_STW || m->kind == MOMENT_GC ||
           (MOMENT_BIT(m->kind) & MOMENT_LEVELS);
}

static bool add(void *ctx, const stacks *names, const moment *m)
{
    places *p = ctx;
    (void)names;
    timeset *of = is_global(m) ? &p->whole : idmap_find(&p->goroutines, m->goroutine);
    if (!of)
        of = idmap_insert(&p->goroutines, m->goroutine);
    if (of)
        timeset_add(of, m->begin, m->end);
    p->any = true;
    p->failed = p->failed || !of || of->failed;
    return !p->failed;
}

static void seal(places *p)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    timeset_seal(&p->whole);
    while (p->goroutines.count > 0 && idmap_next(&p->goroutines, &cursor, &id, &value))
        timeset_seal(value);
}

bool places_find(places *p, find_job *job, gotrace_reader *reader)
{
    job->found = add;
    job->ctx = p;
    job->counts = true;
    moments_find(job, reader);
    seal(p);
    job->failed = job->failed || p->failed;
    return !job->failed && !job->error && !job->too_hard;
}

static bool is_of(const places *p, uint64_t goroutine, int64_t time)
{
    const timeset *of = goroutine ? idmap_find(&p->goroutines, goroutine) : NULL;
    return of && timeset_overlaps(of, time, time);
}

bool places_has(const places *p, const gotrace_event *e)
{
    bool changes = e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE;
    return is_of(p, e->goroutine, e->time) || (changes && is_of(p, e->subject, e->time)) ||
           timeset_overlaps(&p->whole, e->time, e->time);
}
