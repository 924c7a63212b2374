/*
 * timeline.c - the timeline of a report: the page of `gotrace view`, and what it asks for.
 *
 * The data is a sequence of entries, each a name and a value after their sizes (varints). "trace",
 * "tracks 10", "names 1,2,3" and so on are answers of the API (formats/view/api). "0:17 20 3" is a
 * tile: what the track 17 of kind 0 does in the fourth 1024 pixels of 2^20 ns, as the answer
 * "window" has it. All is one deflate stream, in base64.
 *
 * The whole trace comes first, then the surroundings of the findings, then single goroutines and
 * tasks, and then tiles with more detail, as long as there is room. A tile without sums has all
 * detail.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "formats/common/numbers.h"
#include "formats/common/vector.h"
#include "formats/html/html.h"
#include "formats/view/api/api.h"
#include "formats/view/page/page.h"
#include "formats/view/stretches.h"

enum {
    DATA_MOST = HTML_TIMELINE / 4 * 3, /* bytes, which are a third more in base64 */
    DATA_LEAST = 100 * 1024,           /* and more for the bytes of the trace */
    TILE = 1024,                       /* pixels */
    PIXELS = 1000,                     /* about as many does the page show */
    LEVEL_MOST = 50,
    CROWD_LEVELS = 3, /* below that of the whole trace */
    TRACKS = 1000,    /* of a kind */
    NAMES = 250,      /* of one answer */
    WORD = 32,
    PIECE = 64 * 1024,
};

typedef struct tile {
    view_track track;
    unsigned level;
    int64_t index;
} tile;

typedef struct packing {
    view *view;
    view_api *api;
    view_progress trace;
    html *html;
    z_stream stream;
    size_t unwritten; /* bytes that may not be in total_out yet */
    size_t whole;     /* that may be written in all */
    size_t most;      /* and now */
    unsigned top;     /* the level of the whole trace */
    idmap tiles;      /* stored ones, by hash: bool, whether there is more detail */
    tile *queue;      /* those with more detail */
    size_t first, count, room;
    view_track tracks[VIEW_KINDS][TRACKS]; /* that have tiles, those that cost most first */
    size_t track_count[VIEW_KINDS];
    uint8_t *names, *stacks; /* whether tiles refer to them, by number */
    size_t name_room, stack_room;
    view_bytes bytes; /* of the tile that is made */
    int64_t time, pixel;
    bool crowd, coarse; /* it is of many goroutines or tasks; there is more detail */
    int error;          /* errno; 0: none */
} packing;

/* ---- entries ----------------------------------------------------------------------------------
 */

static void compress_bytes(packing *p, const void *bytes, size_t size, int flush)
{
    html *h = p->html;
    p->stream.next_in = (Bytef *)(uintptr_t)bytes;
    p->stream.avail_in = (uInt)size;
    do {
        void *more = vector_fit(h->timeline, &h->timeline_room, h->timeline_size + PIECE, 1);
        if (!more) {
            p->error = ENOMEM;
            return;
        }
        h->timeline = more;
        p->stream.next_out = h->timeline + h->timeline_size;
        p->stream.avail_out = PIECE;
        deflate(&p->stream, flush);
        h->timeline_size += PIECE - p->stream.avail_out;
    } while (p->stream.avail_out == 0);
    p->unwritten = flush == Z_NO_FLUSH ? p->unwritten + size : 0;
}

/* Whether so many bytes are sure to have room. */
static bool has_room(packing *p, size_t size)
{
    if (p->unwritten && p->html->timeline_size + p->unwritten + size > p->most)
        compress_bytes(p, NULL, 0, Z_SYNC_FLUSH);
    return !p->error && p->html->timeline_size + p->unwritten + size <= p->most;
}

static void put_part(packing *p, const void *bytes, size_t size)
{
    unsigned char number[PACKED_MOST];
    compress_bytes(p, number, (size_t)(pack_number(number, size) - number), Z_NO_FLUSH);
    compress_bytes(p, bytes, size, Z_NO_FLUSH);
}

static bool put_entry(packing *p, const char *name, const void *bytes, size_t size)
{
    if (!has_room(p, strlen(name) + size + 2 * PACKED_MOST))
        return false;
    put_part(p, name, strlen(name));
    put_part(p, bytes, size);
    return !p->error;
}

/* Asks the API. False: it failed, or there is no such thing. */
static bool ask(packing *p, const char *question, const view_argument *list, size_t count,
                view_reply *reply)
{
    if (p->error)
        return false;
    errno = ENOMEM;
    if (!view_api_answer(p->api, question, list, count, reply))
        p->error = errno;
    if (!p->error && reply->status == 200)
        return true;
    free(reply->bytes);
    return false;
}

/* Puts the answer; the values of its arguments are the name of the entry. */
static bool put_answer(packing *p, const char *question, const view_argument *list, size_t count,
                       const char *value)
{
    char name[NAMES * WORD];
    view_reply reply = {0};
    if (!ask(p, question, list, count, &reply))
        return false;
    snprintf(name, sizeof name, "%s%s%s", question, value ? " " : "", value ? value : "");
    const bool put = put_entry(p, name, reply.bytes, reply.size);
    free(reply.bytes);
    return put;
}

/* ---- tiles ------------------------------------------------------------------------------------
 */

static void note(packing *p, uint8_t **list, size_t *room, uint32_t number)
{
    uint8_t *more = vector_zeroed(*list, room, number, 1);
    if (!more) {
        p->error = ENOMEM;
        return;
    }
    *list = more;
    more[number] = 1;
}

static bool keep_stretch(void *ctx, const view_stretch *s)
{
    packing *p = ctx;
    const bool single = s->count == 1 && !s->summed;
    stretch_put(&p->bytes, &p->time, s);
    note(p, &p->names, &p->name_room, s->reason);
    if (single)
        note(p, &p->stacks, &p->stack_room, s->stack);
    else
        p->coarse |= !p->crowd || s->end - s->begin < 2 * p->pixel;
    return !p->bytes.failed && !p->error && p->bytes.size < DATA_MOST;
}

static uint64_t hash_of(const tile *t)
{
    const uint64_t parts[] = {(uint64_t)t->track.kind << 8 | t->level, t->track.id,
                              (uint64_t)t->index};
    uint64_t hash = 0;
    for (size_t n = 0; n < 3; n++) {
        hash = (hash ^ parts[n]) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Whether it is stored, or one of a higher level that has all detail. */
static bool is_stored(const packing *p, tile t)
{
    const unsigned level = t.level;
    for (; t.level <= p->top; t.level++, t.index >>= 1) {
        const bool *coarse = idmap_find(&p->tiles, hash_of(&t));
        if (coarse && (t.level == level || !*coarse))
            return true;
    }
    return false;
}

/* Notes that it is stored. */
static void add_tile(packing *p, const tile *t)
{
    bool *coarse = idmap_insert(&p->tiles, hash_of(t));
    tile *queue = vector_room(p->queue, &p->room, p->count, sizeof *queue);
    p->queue = queue ? queue : p->queue;
    if (!coarse || !queue) {
        p->error = ENOMEM;
        return;
    }
    *coarse = p->coarse;
    /* Averages of many goroutines are of little use in more detail. */
    if (p->coarse && t->level > (p->crowd && p->top > CROWD_LEVELS ? p->top - CROWD_LEVELS : 0))
        queue[p->count++] = *t;
}

/* False if there is no room for it. */
static bool store_tile(packing *p, const tile *t)
{
    const int64_t span = (int64_t)TILE << t->level;
    view_window w = {t->index * span, (t->index + 1) * span, t->level ? (int64_t)1 << t->level : 0};
    char name[4 * WORD];
    if (w.from > p->trace.end || is_stored(p, *t))
        return true;
    p->bytes.size = 0;
    p->time = w.from;
    p->pixel = w.pixel;
    p->coarse = false;
    p->crowd = t->track.kind >= VIEW_GROUP && t->track.kind <= VIEW_ALL;
    errno = ENOMEM;
    if (!view_stretches(p->view, &t->track, &w, keep_stretch, p) || p->bytes.failed)
        p->error = errno;
    snprintf(name, sizeof name, "%d:%" PRIu64 " %u %" PRId64, (int)t->track.kind, t->track.id,
             t->level, t->index);
    if (p->error || !put_entry(p, name, p->bytes.bytes, p->bytes.size))
        return false;
    add_tile(p, t);
    return !p->error;
}

static bool store_part(packing *p, const view_track *track, unsigned level, int64_t from,
                       int64_t until)
{
    bool stored = true;
    for (int64_t n = from >> level >> 10; stored && n <= until >> level >> 10; n++)
        stored = store_tile(p, &(tile){*track, level, n});
    return stored;
}

/* The level at which so much time is one or two tiles. */
static unsigned level_of(int64_t ns)
{
    unsigned level = 0;
    while (level < LEVEL_MOST && ns / PIXELS >> level > 1)
        level++;
    return level;
}

/* ---- tracks -----------------------------------------------------------------------------------
 */

/* Finds those of a kind that cost most. */
static size_t list_tracks(packing *p, view_kind kind, view_track *list)
{
    char word[WORD], *at;
    const view_argument arguments[] = {{"kind", word}, {"limit", "1000"}};
    view_reply reply = {0};
    size_t count = 0;
    snprintf(word, sizeof word, "%d", (int)kind);
    if (!ask(p, "tracks", arguments, 2, &reply))
        return 0;
    /* Within strings of JSON, quotes are escaped. */
    static const char id[] = "{\"id\":\"", group[] = "\",\"group\":";
    const char *end = reply.bytes + reply.size;
    for (at = reply.bytes; count < TRACKS && (at = memmem(at, (size_t)(end - at), id, 7));
         count++) {
        list[count].kind = kind;
        list[count].id = strtoull(at + 7, &at, 10);
        list[count].group = (uint32_t)strtoul(at + sizeof group - 1, &at, 10);
    }
    free(reply.bytes);
    return count;
}

static void store_kind(packing *p, view_kind kind)
{
    view_track *list = p->tracks[kind];
    const size_t count = list_tracks(p, kind, list);
    size_t n = 0;
    while (n < count && store_part(p, &list[n], p->top, p->trace.begin, p->trace.end))
        n++;
    p->track_count[kind] = n;
}

/* The answer that lists the tracks that have tiles. */
static void put_list(packing *p, view_kind kind)
{
    char word[WORD], limit[WORD];
    const view_argument arguments[] = {{"kind", word}, {"limit", limit}};
    snprintf(word, sizeof word, "%d", (int)kind);
    for (size_t most = p->track_count[kind]; most > 0 && !p->error; most /= 2) {
        snprintf(limit, sizeof limit, "%zu", most);
        if (put_answer(p, "tracks", arguments, 2, word))
            return;
    }
}

/* ---- findings ---------------------------------------------------------------------------------
 */

/* The time of a finding with some around it. */
static void find_window(const packing *p, const finding *f, int64_t *from, int64_t *until)
{
    const int64_t margin = 2 * f->longest;
    *from = f->at - margin > p->trace.begin ? f->at - margin : p->trace.begin;
    *until = f->at + f->longest + margin;
    *until = *until < p->trace.end ? *until : p->trace.end;
}

/* What it is about: the program, the procs, the goroutine, its regions and group. */
static void store_surroundings(packing *p, const finding *f, unsigned level, int64_t from,
                               int64_t until)
{
    static const view_kind of_program[] = {VIEW_RANGE, VIEW_METRIC, VIEW_PROC};
    view_track own = {VIEW_GOROUTINE, f->goroutine, 0};
    bool stored = true;
    for (size_t k = 0; k < sizeof of_program / sizeof *of_program; k++)
        for (size_t n = 0; stored && n < p->track_count[of_program[k]]; n++)
            stored = store_part(p, &p->tracks[of_program[k]][n], level, from, until);
    if (!stored || !f->goroutine)
        return;
    if (!view_group_of(p->view, VIEW_GOROUTINE, own.id, f->at, &own.group))
        p->error = errno;
    for (own.kind = VIEW_REGION; own.kind <= VIEW_REGION_4; own.kind++)
        store_part(p, &own, level, from, until);
    own.kind = VIEW_GOROUTINE;
    store_part(p, &own, level, from, until);
    store_part(p, &(view_track){VIEW_GROUP, own.group, own.group}, level, from, until);
}

/* A stack that the answer refers to. Within strings of JSON, quotes are escaped. */
static void note_stack(packing *p, const view_reply *reply, const char *member)
{
    const char *at = memmem(reply->bytes, reply->size, member, strlen(member));
    if (at)
        note(p, &p->stacks, &p->stack_room, (uint32_t)strtoul(at + strlen(member), NULL, 10));
}

static void store_finding(packing *p, const finding *f)
{
    enum { MORE = 2 /* levels */ };
    const view_track own = {VIEW_GOROUTINE, f->goroutine, 0};
    char id[WORD], at[WORD], name[3 * WORD];
    const view_argument arguments[] = {{"kind", "0"}, {"id", id}, {"at", at}};
    view_reply reply;
    int64_t from, until;
    find_window(p, f, &from, &until);
    snprintf(id, sizeof id, "%" PRIu64, f->goroutine);
    snprintf(at, sizeof at, "%" PRId64, f->at);
    snprintf(name, sizeof name, "interval 0:%s:%s", id, at);
    if (f->goroutine && ask(p, "interval", arguments, 3, &reply)) {
        put_entry(p, name, reply.bytes, reply.size);
        note_stack(p, &reply, "\"stack\":");
        note_stack(p, &reply, "\"end_stack\":");
        free(reply.bytes);
        store_part(p, &own, p->top, p->trace.begin, p->trace.end);
    }
    const unsigned level = level_of(until - from);
    for (unsigned n = 0; n <= MORE && n <= level && !p->error; n++)
        store_surroundings(p, f, level - n, from, until);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* Tiles with more detail, of all tracks in turn. */
static void refine(packing *p)
{
    bool stored = true;
    while (stored && p->first < p->count) {
        const tile t = p->queue[p->first++];
        for (int64_t n = 0; stored && n < 2; n++)
            stored = store_tile(p, &(tile){t.track, t.level - 1, 2 * t.index + n});
    }
}

static void put_names(packing *p)
{
    char ids[NAMES * 12];
    size_t used = 0, count = 0;
    for (size_t n = 0; n <= p->name_room && !p->error; n++) {
        if (n < p->name_room && p->names[n]) {
            used += (size_t)sprintf(ids + used, "%s%zu", count ? "," : "", n);
            count++;
        }
        if (count == NAMES || (count > 0 && n == p->name_room)) {
            put_answer(p, "names", &(view_argument){"ids", ids}, 1, ids);
            used = count = 0;
        }
    }
}

static void put_stacks(packing *p)
{
    char id[WORD];
    for (size_t n = 1; n < p->stack_room && !p->error; n++) {
        snprintf(id, sizeof id, "%zu", n);
        if (p->stacks[n] && !put_answer(p, "stack", &(view_argument){"id", id}, 1, id))
            return;
    }
}

/* From then on, that share of the room may be used. */
static void allow(packing *p, unsigned percent)
{
    p->most = p->whole / 100 * percent;
}

static void pack(packing *p)
{
    static const view_kind overview[] = {VIEW_RANGE, VIEW_METRIC, VIEW_PROC, VIEW_TASKS,
                                         VIEW_GROUP};
    static const view_kind single[] = {VIEW_GOROUTINE, VIEW_REGION, VIEW_REGION_2, VIEW_REGION_3,
                                       VIEW_REGION_4,  VIEW_TASK,   VIEW_THREAD};
    const diagnosis *d = &p->html->trace->diagnosis;
    allow(p, 35);
    put_answer(p, "trace", NULL, 0, NULL);
    put_answer(p, "findings", NULL, 0, NULL);
    store_part(p, &(view_track){VIEW_ALL, 0, 0}, p->top, p->trace.begin, p->trace.end);
    for (size_t n = 0; n < sizeof overview / sizeof *overview; n++)
        store_kind(p, overview[n]);
    allow(p, 55);
    for (size_t n = 0; n < d->count && n < FINDINGS_SHOWN; n++)
        if (html_has_place(&d->list[n]))
            store_finding(p, &d->list[n]);
    allow(p, 70);
    for (size_t n = 0; n < sizeof single / sizeof *single; n++)
        store_kind(p, single[n]);
    allow(p, 85);
    refine(p);
    allow(p, 99);
    for (int kind = 0; kind < VIEW_KINDS; kind++)
        put_list(p, (view_kind)kind);
    put_names(p);
    put_stacks(p);
    if (!p->error)
        compress_bytes(p, NULL, 0, Z_FINISH);
}

/* Returns what is to be freed at the end. */
static time_gap *set_gaps(packing *p, const convert_job *job)
{
    size_t count = 0;
    if (job->gap_count == 0)
        return NULL;
    time_gap *gaps = gaps_find(gotrace_reader_summary(job->reader), job->gaps, job->gap_count,
                               p->trace.begin, p->trace.end, &count);
    p->error = gaps ? p->error : ENOMEM;
    view_api_set_gaps(p->api, gaps, count);
    return gaps;
}

static void pack_index(packing *p, html *h, const convert_job *job)
{
    char version[WORD];
    const uint64_t size = DATA_LEAST + 2 * gotrace_source_size(job->source);
    p->html = h;
    p->whole = size < DATA_MOST ? (size_t)size : DATA_MOST;
    p->trace = view_progress_of(p->view);
    /* Times of damaged traces may be anything. */
    if (p->trace.begin < 0 || p->trace.end <= p->trace.begin || p->trace.end >> LEVEL_MOST > TILE)
        return;
    p->top = level_of(p->trace.end - p->trace.begin);
    p->api = view_api_new(p->view, job->name);
    idmap_init(&p->tiles, sizeof(bool));
    if (!p->api || deflateInit(&p->stream, Z_DEFAULT_COMPRESSION) != Z_OK) {
        view_api_free(p->api);
        p->error = ENOMEM;
        return;
    }
    snprintf(version, sizeof version, "1.%d", gotrace_reader_summary(job->reader)->version);
    view_api_set_version(p->api, version);
    view_api_set_diagnosis(p->api, &h->trace->diagnosis, h->s->stacks);
    time_gap *gaps = set_gaps(p, job);
    view_api_end(p->api, NULL);
    pack(p);
    free(gaps);
    deflateEnd(&p->stream);
    view_api_free(p->api);
    idmap_free(&p->tiles);
    free(p->queue);
    free(p->names);
    free(p->stacks);
    free(p->bytes.bytes);
}

/* Returns an errno, 0: done. */
static int build_index(view *v, const convert_job *job)
{
    gotrace_config config = job->config ? *job->config : (gotrace_config){0};
    gotrace_reader *reader;
    int error = 0;
    config.on_problem = NULL;
    if (gotrace_reader_open(job->source, &config, &reader, NULL) != GOTRACE_OK)
        return ENOMEM;
    const gotrace_status status = view_build(v, reader, job->threads);
    /* What is wrong with the trace was reported. What the system refuses depends on the moment. */
    const gotrace_error *failure = gotrace_reader_error(reader);
    if (!view_failed(v, &error) && status == GOTRACE_ERROR &&
        failure->class_ == GOTRACE_CLASS_SYSTEM && failure->rule != GOTRACE_RULE_SYSTEM_LIMIT)
        error = failure->rule == GOTRACE_RULE_SYSTEM_MEMORY ? ENOMEM : EIO;
    gotrace_reader_close(reader);
    return error;
}

int html_make_timeline(html *h, const convert_job *job)
{
    packing *p = calloc(1, sizeof *p);
    int error = ENOMEM;
    if (p && (p->view = view_new())) {
        error = build_index(p->view, job);
        if (!error) {
            pack_index(p, h, job);
            error = p->error;
        }
    }
    view_free(p ? p->view : NULL);
    free(p);
    return error;
}

/* ---- the section ------------------------------------------------------------------------------
 */

static void put_base64(out *o, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t n = 0; n < size; n += 3) {
        const uint32_t three = (uint32_t)bytes[n] << 16 |
                               (n + 1 < size ? (uint32_t)bytes[n + 1] << 8 : 0) |
                               (n + 2 < size ? bytes[n + 2] : 0);
        out_char(o, digits[three >> 18]);
        out_char(o, digits[three >> 12 & 63]);
        out_char(o, n + 1 < size ? digits[three >> 6 & 63] : '=');
        out_char(o, n + 2 < size ? digits[three & 63] : '=');
    }
}

void html_timeline(html *h)
{
    out *o = h->out;
    out_str(o, "<section id=\"timeline\">\n<h2>Timeline</h2>\n<p>");
    if (h->timeline_size == 0) {
        out_str(o, "A timeline is of one trace as a whole: <code>gotrace view ");
        html_file(h, 0);
        out_str(o, "</code></p>\n</section>\n");
        return;
    }
    out_str(o,
            "The whole trace, with more detail around the findings; the key ? shows what one "
            "can do. All detail, of any size, is shown by <code class=\"command\">gotrace view ");
    html_file(h, 0);
    out_str(o, "</code></p>\n<noscript><p>It needs scripts.</p></noscript>\n<template "
               "id=\"timeline-page\"><style>");
    out_bytes(o, view_page_style, view_page_style_size);
    out_str(o, "</style>");
    out_bytes(o, view_page_body, view_page_body_size);
    out_str(o, "<script type=\"module\">");
    out_bytes(o, view_page_script, view_page_script_size);
    out_str(o, "</script></template>\n<script type=\"application/octet-stream\" "
               "id=\"timeline-data\">");
    put_base64(o, h->timeline, h->timeline_size);
    out_str(o, "</script>\n</section>\n");
}
