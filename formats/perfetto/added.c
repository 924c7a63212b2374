/* added.c - tracks that are not of the trace, such as the critical paths of `why`. */
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"
#include "formats/common/vector.h"

/* The ends of the open slices of a track, the outermost first. */
typedef struct added {
    perfetto *p;
    uint64_t track;
    int64_t *ends;
    size_t count, capacity;
} added;

/* An event of the sequence. It has the time of its own, since those of the trace were written. */
static void event_begin(const added *a, unsigned type, int64_t time)
{
    perfetto *p = a->p;
    packet_open(p, SEQUENCE_ADDED, 0);
    protobuf_uint(&p->w, PACKET_TIMESTAMP, p->zero + (uint64_t)(time > 0 ? time : 0));
    protobuf_uint(&p->w, PACKET_CLOCK_ID, p->clock);
    p->event = protobuf_open(&p->w, PACKET_TRACK_EVENT);
    protobuf_uint(&p->w, EVENT_TYPE, type);
    protobuf_uint(&p->w, EVENT_TRACK_UUID, p->base + a->track);
}

/* Ends the slices that end until then. */
static void end_slices(added *a, int64_t time)
{
    for (; a->count > 0 && a->ends[a->count - 1] <= time; a->count--) {
        event_begin(a, SLICE_END, a->ends[a->count - 1]);
        event_close(a->p);
    }
}

static void begin_slice(added *a, const perfetto_slice *slice)
{
    static const char category[] = "path", details[] = "details";
    protobuf *w = &a->p->w;
    end_slices(a, slice->begin);
    int64_t *ends = vector_room(a->ends, &a->capacity, a->count, sizeof *ends);
    if (!ends) {
        protobuf_fail(w);
        return;
    }
    a->ends = ends;
    a->ends[a->count++] = slice->end;
    event_begin(a, SLICE_BEGIN, slice->begin);
    protobuf_string(w, EVENT_CATEGORY, category, sizeof category - 1);
    protobuf_string(w, EVENT_NAME, slice->name, slice->name_size);
    if (slice->details_size) {
        size_t annotation = protobuf_open(w, EVENT_DEBUG_ANNOTATIONS);
        protobuf_string(w, ANNOTATION_NAME, details, sizeof details - 1);
        protobuf_string(w, ANNOTATION_STRING, slice->details, slice->details_size);
        protobuf_close(w, annotation);
    }
    event_close(a->p);
}

void added_tracks(perfetto *p, const perfetto_tracks *tracks)
{
    added a = {.p = p};
    const char *name;
    perfetto_slice slice;
    packet_settle(p);
    while (!p->w.failed && (name = tracks->next_track(tracks->ctx))) {
        a.track = track_added(p, name);
        while (!p->w.failed && tracks->next_slice(tracks->ctx, &slice))
            begin_slice(&a, &slice);
        end_slices(&a, INT64_MAX);
    }
    free(a.ends);
}
