/*
 * fuzz_view.c - an index of any trace: whatever the size of its nodes is, the same stretches of the
 * same tracks are found, in the order of their begin; and windows with less detail are read. The
 * questions of the API are answered.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common.h"
#include "formats/view/api/api.h"
#include "formats/view/index.h"

/* What is found in one window. */
typedef struct found {
    view *view;
    view_window window;
    int64_t last;
    uint64_t digest, stretches;
} found;

static bool add_stretch(void *ctx, const view_stretch *s)
{
    found *f = ctx;
    REQUIRE(s->begin >= f->last && (s->count > 0 || s->summed) && s->state < DO_KINDS);
    REQUIRE(f->window.pixel > 0 || s->begin < f->window.until);
    f->last = s->begin;
    f->stretches += s->count;
    const uint64_t facts[] = {(uint64_t)s->begin, (uint64_t)s->end, s->count,
                              s->other,           s->state,         (uint64_t)s->longest};
    /* Those that take no time at the same time are in no particular order. */
    uint64_t digest = 0;
    digest_write(&digest, facts, sizeof facts);
    digest_write(&digest, s->ns, sizeof s->ns);
    f->digest += digest;
    return true;
}

static bool add_track(void *ctx, const view_listed *t)
{
    found *f = ctx;
    f->last = INT64_MIN;
    f->digest += t->track.id * 31 + t->track.kind;
    REQUIRE(view_stretches(f->view, &t->track, &f->window, add_stretch, f));
    return true;
}

/* Groups are divided where a node ends, and are not the same with other sizes. */
static bool is_compared(view_kind kind)
{
    return kind != VIEW_GROUP && kind != VIEW_TASKS && kind != VIEW_ALL;
}

static found look(view *v, const view_window *window)
{
    found f = {.view = v, .window = *window};
    for (view_kind kind = 0; kind < VIEW_KINDS; kind++)
        if (is_compared(kind) || window->pixel)
            REQUIRE(view_list(v, kind, UINT32_MAX, window, add_track, &f));
    return f;
}

static view *build(const uint8_t *data, size_t size, size_t items, size_t above)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_reader *reader;
    int error;
    view *v = view_new();
    REQUIRE(v != NULL);
    v->levels.most_items = items;
    v->levels.most_above = v->levels.most_sums = above;
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    if (gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK) {
        view_build(v, reader, 1);
        REQUIRE(!view_failed(v, &error));
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    return v;
}

static uint64_t ask(view_api *a, const char *question, const view_argument *list, size_t count)
{
    view_reply reply;
    REQUIRE(view_api_answer(a, question, list, count, &reply));
    REQUIRE(reply.status == 200 || reply.status == 400 || reply.status == 404);
    REQUIRE(reply.size > 0);
    free(reply.bytes);
    return reply.status;
}

/* Asks of one goroutine, track and time of the trace. */
static void ask_some(view *v, uint64_t *state)
{
    char id[24], kind[24], from[24], until[24], tracks[160];
    const int64_t end = view_progress_of(v).end;
    const uint64_t time = end > 0 ? fuzz_random(state) % (uint64_t)end : 0;
    view_api *a = view_api_new(v, "x");
    REQUIRE(a != NULL);
    snprintf(id, sizeof id, "%" PRIu64, fuzz_random(state) % 40);
    snprintf(kind, sizeof kind, "%" PRIu64, fuzz_random(state) % VIEW_KINDS);
    snprintf(from, sizeof from, "%" PRIu64, time);
    snprintf(until, sizeof until, "%" PRId64, end > 0 ? end : 1);
    snprintf(tracks, sizeof tracks, "%s:%s,0:%s,10:%s,13:%s", kind, id, id, id, id);
    REQUIRE(ask(a, "trace", NULL, 0) == 200);
    REQUIRE(ask(a, "tracks", (view_argument[]){{"kind", kind}}, 1) == 200);
    ask(a, "window", (view_argument[]){{"from", from}, {"until", until}, {"tracks", tracks}}, 3);
    ask(a, "interval", (view_argument[]){{"kind", kind}, {"id", id}, {"at", from}}, 3);
    ask(a, "interval", (view_argument[]){{"kind", "0"}, {"id", id}, {"at", from}}, 3);
    ask(a, "path", (view_argument[]){{"goroutine", id}, {"from", "0"}, {"until", until}}, 3);
    ask(a, "path", (view_argument[]){{"goroutine", id}, {"from", "-9"}, {"until", from}}, 3);
    ask(a, "stack", (view_argument[]){{"id", id}}, 1);
    ask(a, "names", (view_argument[]){{"ids", id}}, 1);
    view_api_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t state = fuzz_seed(data, size);
    if (fuzz_is_packed(data, size))
        return 0;
    view *whole = build(data, size, 1 << 20, 1 << 20);
    view *small = build(data, size, 1 + fuzz_random(&state) % 50, 1 + fuzz_random(&state) % 20);
    const int64_t end = view_progress_of(whole).end;
    const int64_t from = end > 0 ? (int64_t)(fuzz_random(&state) % (uint64_t)end) : 0;
    const view_window all = {INT64_MIN, INT64_MAX, 0};
    const view_window some = {from, from + (int64_t)(fuzz_random(&state) % 1000000), 0};
    const view_window coarse = {INT64_MIN, INT64_MAX, 1 + (int64_t)(fuzz_random(&state) >> 20)};
    const found a = look(whole, &all), b = look(small, &all);
    REQUIRE(a.stretches == b.stretches && a.digest == b.digest);
    const found c = look(whole, &some), d = look(small, &some);
    REQUIRE(c.stretches == d.stretches && c.digest == d.digest);
    look(small, &coarse);
    ask_some(small, &state);
    view_free(whole);
    view_free(small);
    return 0;
}
