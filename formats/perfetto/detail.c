/*
 * detail.c - merges slices and instants that are shorter than a time with their neighbours.
 *
 * A slice that takes at least that time is shown as it is. Shorter ones, and instants, become part
 * of what is merged on their track, or in the slice that they are in, until a slice is shown, until
 * nothing happened for that time, or until that time has been merged. So at most two slices begin
 * on a track, at each depth, in that time. What is merged is one slice, named after what most of
 * its time is, with the number and the sum of each kind as annotations; of a single slice or
 * instant it is that, with its name, stacks and annotations, and with the numbers and sums of what
 * is in it. The sum of the slices of a kind and of the annotations is the same as without --detail.
 *
 * A track on which nothing was shown until its end is not described: what was merged on it becomes
 * part of another track ("short goroutines", "short tasks").
 *
 * The begin of a slice is written when it has become clear that it is shown, so after later events
 * of other tracks, with its time on the system clock. On its own track it is written in order. What
 * is merged refers to interned data, so all of it is written before the incremental state is
 * cleared.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/perfetto/perfetto.h"

/* The fields of an event after its track, or of the description of a track. */
typedef struct fields {
    size_t size;
    uint8_t bytes[];
} fields;

typedef struct tally {
    uint64_t count;
    int64_t ns;
} tally;

/* What is merged. */
typedef struct part {
    int64_t begin, end;
    unsigned merged; /* of a single one */
    fields *first;   /* of the begin of a single one; NULL: there are several */
    fields *last;    /* of its end; NULL: it is an instant */
    tally tallies[MERGED_COUNT];
} part;

/* An open slice. */
typedef struct slice {
    struct slice *outer;
    int64_t begin;
    unsigned merged;
    bool shown; /* its begin was written */
    part *part; /* in it; NULL: nothing */
    fields *first;
} slice;

typedef struct track {
    slice *open;         /* the innermost one */
    part *part;          /* outside slices; NULL: nothing */
    int64_t shown_until; /* of merged slices that were written */
    uint64_t parent;
    bool is_child;       /* it is counted in the parent's */
    size_t children;     /* tracks below it that may still be described */
    fields *description; /* NULL: it was written */
} track;

void detail_init(perfetto *p, int64_t least)
{
    p->detail.least = least;
    idmap_init(&p->detail.tracks, sizeof(track));
    /* Arrows begin and end at what may be merged. */
    if (least)
        p->parts &= ~(1U << PART_FLOWS);
}

/* Slices and short fields are used again, because there is one for each event. */
enum { SHORT_FIELDS = 56 };

static void *spare_take(void **spares, size_t size)
{
    void *taken = *spares;

    if (!taken)
        return malloc(size);
    memcpy(spares, taken, sizeof *spares);
    return taken;
}

static void spare_put(void **spares, void *put)
{
    memcpy(put, spares, sizeof *spares);
    *spares = put;
}

static void spares_free(void **spares)
{
    while (*spares)
        free(spare_take(spares, 0));
}

static void fields_free(perfetto *p, fields *f)
{
    if (f && f->size <= SHORT_FIELDS)
        spare_put(&p->detail.spare_fields, f);
    else
        free(f);
}

static void part_free(perfetto *p, part *m)
{
    if (!m)
        return;
    fields_free(p, m->first);
    fields_free(p, m->last);
    free(m);
}

static void slice_free(perfetto *p, slice *s)
{
    part_free(p, s->part);
    fields_free(p, s->first);
    spare_put(&p->detail.spare_slices, s);
}

static void track_free(perfetto *p, track *t)
{
    while (t->open) {
        slice *s = t->open;
        t->open = s->outer;
        slice_free(p, s);
    }
    part_free(p, t->part);
    fields_free(p, t->description);
}

void detail_free(perfetto *p)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;

    while (idmap_next(&p->detail.tracks, &cursor, &id, &value))
        track_free(p, value);
    idmap_free(&p->detail.tracks);
    spares_free(&p->detail.spare_slices);
    spares_free(&p->detail.spare_fields);
    free(p->detail.taken);
}

/* The track, new if it is not known; NULL if memory is refused. */
static track *track_get(perfetto *p, uint64_t id)
{
    track *t = idmap_find(&p->detail.tracks, id);

    if (!t && !(t = idmap_insert(&p->detail.tracks, id)))
        protobuf_fail(&p->w);
    return t;
}

/* ---- output -------------------------------------------------------------------------------- */

/* Copies the bytes from that mark on, and removes the rest of the packet from the output. Valid
 * until the next call; NULL if memory is refused. */
static const fields *take(perfetto *p, size_t mark)
{
    size_t size = p->w.used - mark;

    if (p->detail.room < sizeof(fields) + size) {
        const size_t room = 2 * (sizeof(fields) + size);
        void *larger = realloc(p->detail.taken, room);
        if (!larger) {
            protobuf_fail(&p->w);
            return NULL;
        }
        p->detail.taken = larger;
        p->detail.room = room;
    }
    fields *taken = p->detail.taken;
    taken->size = size;
    memcpy(taken->bytes, p->w.bytes + mark, size);
    /* Interned data remain, in a packet of their own. */
    if (p->detail.has_data) {
        p->w.used = p->detail.rest;
        packet_close(p);
    } else {
        p->w.used = p->packet - 1;
    }
    return taken;
}

/* NULL if memory is refused. */
static fields *copy(perfetto *p, const fields *f)
{
    bool is_short = f->size <= SHORT_FIELDS;
    fields *made = is_short ? spare_take(&p->detail.spare_fields, sizeof *made + SHORT_FIELDS)
                            : malloc(sizeof *made + f->size);

    if (!made) {
        protobuf_fail(&p->w);
        return NULL;
    }
    made->size = f->size;
    memcpy(made->bytes, f->bytes, f->size);
    return made;
}

static void put(perfetto *p, const fields *f)
{
    if (!f)
        return;
    protobuf_room(&p->w, f->size);
    if (p->w.failed)
        return;
    memcpy(protobuf_at(&p->w), f->bytes, f->size);
    p->w.used += f->size;
}

static void put_tallies(perfetto *p, const tally *tallies)
{
    for (unsigned i = MERGED_NONE + 1; i < MERGED_COUNT; i++) {
        if (tallies[i].count == 0)
            continue;
        event_annotate_uint(p, annotation_of_merged(i), tallies[i].count);
        if (tallies[i].ns > 0)
            event_annotate_uint(p, annotation_of_merged(i) + 1, (uint64_t)tallies[i].ns);
    }
}

void detail_show_track(perfetto *p, uint64_t id)
{
    track *t = idmap_find(&p->detail.tracks, id);

    if (!t || !t->description)
        return;
    fields *description = t->description;
    t->description = NULL;
    detail_show_track(p, t->parent);
    packet_open(p, SEQUENCE_EVENTS, 0);
    size_t mark = protobuf_open(&p->w, PACKET_TRACK_DESCRIPTOR);
    put(p, description);
    protobuf_close(&p->w, mark);
    packet_close(p);
    fields_free(p, description);
}

/* ---- merging ------------------------------------------------------------------------------- */

/* What most of the time is or, of instants, what most of them are. */
static unsigned most_of(const tally *tallies)
{
    unsigned most = MERGED_NONE + 1;

    for (unsigned i = most + 1; i < MERGED_COUNT; i++)
        if (tallies[i].ns > tallies[most].ns ||
            (tallies[i].ns == tallies[most].ns && tallies[i].count > tallies[most].count))
            most = i;
    return most;
}

static void part_write(perfetto *p, uint64_t id, part *m)
{
    bool instant = m->first && !m->last;

    event_open_earlier(p, m->begin, instant ? INSTANT : SLICE_BEGIN, id);
    if (m->first) {
        put(p, m->first);
        m->tallies[m->merged].count--;
        m->tallies[m->merged].ns -= m->end - m->begin;
    } else {
        protobuf_uint(&p->w, EVENT_NAME_IID, name_of_merged(most_of(m->tallies)));
    }
    put_tallies(p, m->tallies);
    event_close(p);
    if (instant)
        return;
    event_open_earlier(p, m->end, SLICE_END, id);
    put(p, m->last);
    event_close(p);
}

static void slice_show(perfetto *p, uint64_t id, track *t, slice *s);

/* Writes what was merged in the slice; NULL: outside of slices. */
static void part_flush(perfetto *p, uint64_t id, track *t, slice *in)
{
    part **at = in ? &in->part : &t->part, *m = *at;

    if (!m)
        return;
    *at = NULL;
    if (in)
        slice_show(p, id, t, in);
    else
        detail_show_track(p, id);
    part_write(p, id, m);
    if (t->shown_until < m->end)
        t->shown_until = m->end;
    part_free(p, m);
}

/* Writes the begin of the slice if it was not written. */
static void slice_show(perfetto *p, uint64_t id, track *t, slice *s)
{
    if (s->shown)
        return;
    s->shown = true;
    if (s->outer)
        slice_show(p, id, t, s->outer);
    else
        detail_show_track(p, id);
    part_flush(p, id, t, s->outer);
    event_open_earlier(p, s->begin, SLICE_BEGIN, id);
    put(p, s->first);
    event_close(p);
}

/* What is merged in the slice (NULL: outside of slices), to which something with that begin is to
 * be added; *is_new: there was nothing. NULL if memory is refused. */
static part *part_at(perfetto *p, uint64_t id, track *t, slice *in, int64_t begin, bool *is_new)
{
    part **at = in ? &in->part : &t->part;

    if (*at && begin - (*at)->end >= p->detail.least)
        part_flush(p, id, t, in);
    *is_new = !*at;
    if (*is_new && !(*at = calloc(1, sizeof **at))) {
        protobuf_fail(&p->w);
        return NULL;
    }
    if (*is_new)
        (*at)->begin = begin;
    return *at;
}

static void part_add(part *m, int64_t begin, int64_t end, unsigned merged, const part *inside)
{
    m->begin = begin < m->begin ? begin : m->begin;
    m->end = end > m->end ? end : m->end;
    m->merged = merged;
    m->tallies[merged].count++;
    m->tallies[merged].ns += end - begin;
    for (unsigned i = 0; inside && i < MERGED_COUNT; i++) {
        m->tallies[i].count += inside->tallies[i].count;
        m->tallies[i].ns += inside->tallies[i].ns;
    }
}

/* No longer a single slice or instant. */
static void part_is_several(perfetto *p, part *m)
{
    fields_free(p, m->first);
    fields_free(p, m->last);
    m->first = m->last = NULL;
}

static void take_begin(perfetto *p, track *t, unsigned merged, const fields *taken)
{
    fields *first = copy(p, taken);
    slice *s = first ? spare_take(&p->detail.spare_slices, sizeof *s) : NULL;

    if (!s) {
        fields_free(p, first);
        protobuf_fail(&p->w);
        return;
    }
    *s = (slice){.outer = t->open, .begin = p->time, .merged = merged, .first = first};
    t->open = s;
}

static void take_instant(perfetto *p, uint64_t id, track *t, unsigned merged, const fields *taken)
{
    bool is_new;
    part *m = part_at(p, id, t, t->open, p->time, &is_new);

    if (!m)
        return;
    if (is_new)
        m->first = copy(p, taken);
    else
        part_is_several(p, m);
    part_add(m, p->time, p->time, merged, NULL);
    if (m->end - m->begin >= p->detail.least)
        part_flush(p, id, t, t->open);
}

/* Merges the innermost slice, which is closed. */
static void merge_slice(perfetto *p, uint64_t id, track *t, slice *s, const fields *taken)
{
    bool is_new;
    part *m = part_at(p, id, t, s->outer, s->begin, &is_new);

    if (!m)
        return;
    if (is_new) {
        m->first = s->first;
        m->last = copy(p, taken);
        s->first = NULL;
    } else {
        part_is_several(p, m);
    }
    part_add(m, s->begin, p->time, s->merged, s->part);
    if (m->end - m->begin >= p->detail.least)
        part_flush(p, id, t, s->outer);
}

static void take_end(perfetto *p, uint64_t id, track *t, const fields *taken)
{
    slice *s = t->open;

    if (s->shown || p->time - s->begin >= p->detail.least) {
        slice_show(p, id, t, s);
        part_flush(p, id, t, s);
        event_open_earlier(p, p->time, SLICE_END, id);
        put(p, taken);
        event_close(p);
    } else {
        merge_slice(p, id, t, s, taken);
    }
    t->open = s->outer;
    slice_free(p, s);
}

bool detail_take(perfetto *p)
{
    perfetto_detail *d = &p->detail;
    unsigned merged = d->merged;
    size_t body = d->body;
    bool ends = d->type == SLICE_END;
    track *t = idmap_find(&d->tracks, d->track);

    d->body = 0;
    if (!ends)
        d->merged = MERGED_NONE;
    if (p->w.failed || p->before_window || (ends ? !t || !t->open : !merged))
        return false;
    if (!t)
        t = track_get(p, d->track);
    p->written = d->written;
    const fields *taken = t ? take(p, body) : NULL;
    if (!taken)
        return true;
    if (ends)
        take_end(p, d->track, t, taken);
    else if (d->type == SLICE_BEGIN)
        take_begin(p, t, merged, taken);
    else
        take_instant(p, d->track, t, merged, taken);
    return true;
}

/* ---- tracks -------------------------------------------------------------------------------- */

void detail_hold(perfetto *p, uint32_t id, uint64_t parent)
{
    const track *known = idmap_find(&p->detail.tracks, id);

    if (p->w.failed || p->before_window) {
        protobuf_close(&p->w, p->event);
        packet_close(p);
        return;
    }
    track *t = track_get(p, id), *above = idmap_find(&p->detail.tracks, parent);
    if (!t)
        return;
    t->parent = parent;
    if (!known && above) {
        t->is_child = true;
        above->children++;
    }
    const fields *taken = take(p, p->event + 1);
    fields_free(p, t->description);
    t->description = taken ? copy(p, taken) : NULL;
}

/* Merges all of a track with another one, as one of these or as what it is. */
static void merge_track(perfetto *p, track *t, uint64_t other, unsigned merged)
{
    part *more = t->part;
    track *into = more ? track_get(p, other) : NULL;
    bool is_new;

    if (!into)
        return;
    /* These tracks overlap. */
    int64_t begin = more->begin > into->shown_until ? more->begin : into->shown_until;
    int64_t end = more->end > begin ? more->end : begin;
    part *m = part_at(p, other, into, NULL, begin, &is_new);
    if (!m)
        return;
    part_is_several(p, m);
    if (is_new && !merged && begin == more->begin) {
        m->first = more->first;
        m->last = more->last;
        more->first = more->last = NULL;
    }
    part_add(m, begin, end, merged, more);
    m->merged = more->merged;
    m->tallies[merged].ns += more->end - more->begin - (end - begin);
    if (m->end - m->begin >= p->detail.least)
        part_flush(p, other, into, NULL);
}

void detail_end_track(perfetto *p, uint64_t id, uint64_t other, unsigned merged)
{
    track *t = p->detail.least ? idmap_find(&p->detail.tracks, id) : NULL;

    if (!t)
        return;
    track *above = t->is_child ? idmap_find(&p->detail.tracks, t->parent) : NULL;
    if (above)
        above->children--;
    /* Short tracks below a track that is shown remain there. */
    if (!t->description || t->children > 0 || (above && !above->description)) {
        part_flush(p, id, t, NULL);
        detail_show_track(p, id);
    } else {
        merge_track(p, t, other, merged);
    }
    track_free(p, t);
    idmap_remove(&p->detail.tracks, id);
}

void detail_settle(perfetto *p)
{
    size_t count = p->before_window ? 0 : p->detail.tracks.count;
    uint64_t *ids = count > 0 ? sorted_ids(p, &p->detail.tracks) : NULL;

    for (size_t i = 0; ids && i < count; i++) {
        track *t = idmap_find(&p->detail.tracks, ids[i]);
        if (t->open)
            slice_show(p, ids[i], t, t->open);
        part_flush(p, ids[i], t, t->open);
    }
    free(ids);
}
