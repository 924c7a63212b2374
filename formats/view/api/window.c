/* window.c - what tracks do in a window of time, as bytes. */
#include <stdlib.h>

#include "formats/common/numbers.h"
#include "formats/view/api/answer.h"

enum {
    TRACKS_MOST = 200, /* of a question */
    PIXELS = 1000,
    PIXELS_MOST = 20000
};

typedef struct writing {
    view_bytes bytes; /* of a track */
    int64_t time;
} writing;

static bool put_stretch(void *ctx, const view_stretch *s)
{
    writing *w = ctx;
    stretch_put(&w->bytes, &w->time, s);
    /* More than an answer may have: it is refused as soon as it is written. */
    return w->bytes.size <= ANSWER_MOST && !w->bytes.failed;
}

void answer_window(answer *q)
{
    static const char *const needed[] = {"from", "until", "tracks"};
    view_track tracks[TRACKS_MOST];
    view_window window = {0, 1, 0};
    writing w = {0};
    for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
        arguments_need(&q->arguments, needed[n]);
    const size_t count = arguments_tracks(&q->arguments, "tracks", tracks, TRACKS_MOST);
    if (!answer_read_window(q, &window, PIXELS, PIXELS_MOST))
        return;
    for (size_t n = 0; n < count && !q->failed && !q->out->failed; n++) {
        unsigned char size[PACKED_MOST];
        w.bytes.size = 0;
        w.time = window.from;
        view_lock(q->api->index);
        q->failed = !view_stretches(q->api->index, &tracks[n], &window, put_stretch, &w);
        view_unlock(q->api->index);
        q->failed |= w.bytes.failed;
        out_bytes(q->out, size, (size_t)(pack_number(size, w.bytes.size) - size));
        out_bytes(q->out, w.bytes.bytes, w.bytes.size);
    }
    free(w.bytes.bytes);
}
