/*
 * strings.c - strings: those of a generation (v2), or of the trace (v1), whose records are in the
 * buffers of the procs that used them first.
 */
#include "record/event.h"

#include <string.h>

#include "core/tracer_names.h"

/* Reasons, with the texts of Go, and the name of the recorder: gt_rec_word. Source: Go 1.22,
 * runtime/traceruntime.go. */
static const char *const words[GT_REC_WORDS] = {
    [GT_REC_WORD_GOSCHED] = "runtime.Gosched",
    [GT_REC_WORD_PREEMPTED] = "preempted",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_BLOCK] = "unspecified",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_SLEEP] = "sleep",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_SEND] = "chan send",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_RECEIVE] = "chan receive",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_SELECT] = "select",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_SYNC] = "sync",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_COND] = "sync.(*Cond).Wait",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_NETWORK] = "network",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_GC] = "GC mark assist wait for work",
    [GT_REC_WORD_BLOCK + GOTRACE_REC_FOREVER] = "forever",
    [GT_REC_WORD_RECORDER] = GT_RECORDER_NAME,
};

void gt_rec_strings_begin(gotrace_recorder *r, uint64_t era)
{
    for (unsigned i = 1; i < GT_REC_WORDS && r->v2; i++)
        gt_rec_table_entry(r, era, true, &(gt_rec_key){words[i], strlen(words[i]), 0}, true, NULL);
}

/* Source: Go 1.19, runtime/trace.go, traceString. */
void gt_rec_put_string(gotrace_rec_thread *t, uint64_t id, const void *text, size_t size)
{
    gt_rec_place w = gt_rec_place_of(t, t->proc);
    w.locked = true;
    gt_rec_buffer *b = gt_rec_room(&w, 1 + 2 * GT_VARINT_MAX + size);
    if (!b)
        return;
    uint8_t *p = b->p;
    *p++ = GOTRACE_V1_String;
    p = gt_put(gt_put(p, id), size);
    memcpy(p, text, size);
    gt_rec_commit();
    b->p = p + size;
}

uint64_t gt_rec_string(gotrace_rec_thread *t, const char *text, size_t size)
{
    gotrace_recorder *r = t->recorder;
    if (size == 0 || r->numbers)
        return 0;
    if (size > GT_REC_STRING_MAX)
        size = GT_REC_STRING_MAX;
    return gt_rec_id(
        gt_rec_table_entry(r, t->era, true, &(gt_rec_key){text, size, 0}, false, r->v2 ? NULL : t));
}

static bool put_string(gotrace_recorder *r, const gt_rec_entry *s, uint64_t ticks)
{
    uint64_t id;
    size_t number;
    const char *text = (const char *)s->bytes;
    if (r->v2)
        return gt_v2_string(r->encoder, ticks, text, s->size, &id) == GOTRACE_OK;
    if (gt_encoder_intern_string(r->encoder, text, s->size, &number) != GOTRACE_OK)
        return false;
    r->encoder->strings.entries[number].id = r->encoder->last_string = s->id;
    return true;
}

bool gt_rec_strings_end(gotrace_recorder *r, uint64_t era, uint64_t ticks)
{
    size_t number;
    bool good = true;
    for (const gt_rec_entry *s = r->tables[era % GT_REC_OPEN].strings.first; s && good;
         s = s->younger)
        good = put_string(r, s, ticks);
    if (good && !r->v2 && !r->numbers) /* the encoder writes it with the names of the stacks */
        good = gt_encoder_intern_string(r->encoder, GT_RECORDER_NAME, strlen(GT_RECORDER_NAME),
                                        &number) == GOTRACE_OK;
    return good;
}
