#include "read/window.h"

#include <string.h>

static void set_limit(gt_file_window *w, size_t have)
{
    w->limit = w->bytes + have;
    w->safe = have >= GT_SLACK ? w->limit - GT_SLACK + 1 : w->bytes;
}

bool gt_file_window_open(gotrace_reader *reader, gt_file_window *w, size_t size)
{
    *w = (gt_file_window){.bytes = gt_resize(&reader->heap, NULL, 0, size + GT_SLACK),
                          .size = size};
    return w->bytes || gt_fail_memory(reader);
}

void gt_file_window_close(gotrace_reader *reader, gt_file_window *w)
{
    gt_free(&reader->heap, w->bytes, w->bytes ? w->size + GT_SLACK : 0);
    *w = (gt_file_window){0};
}

void gt_file_window_move(gt_file_window *w, uint64_t offset, uint64_t end)
{
    w->p = w->bytes;
    w->base = offset;
    w->end = end;
    set_limit(w, 0);
}

bool gt_file_window_fill(gotrace_reader *reader, gt_file_window *w, size_t need)
{
    size_t left = (size_t)(w->limit - w->p);
    if (need > w->size) {
        void *grown = gt_resize(&reader->heap, w->bytes, w->size + GT_SLACK, need + GT_SLACK);
        if (!grown)
            return gt_fail_memory(reader);
        w->p = (uint8_t *)grown + (w->p - w->bytes);
        w->bytes = grown;
        w->size = need;
    }
    w->base = gt_offset_of(w, w->p);
    memmove(w->bytes, w->p, left);
    uint64_t ahead = w->end - w->base - left;
    size_t room = w->size - left;
    if (room > ahead)
        room = (size_t)ahead;
    if (!gt_read_again(reader, w->base + left, w->bytes + left, room))
        return false;
    gt_progress(reader, room);
    w->p = w->bytes;
    set_limit(w, left + room);
    memset(w->bytes + left + room, 0, GT_SLACK);
    return true;
}
