#include "formats/analyse/flames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/histogram.h"
#include "formats/common/vector.h"

enum {
    FLAME_FRAMES = 1500,
    FLAME_DEPTH = 128,
};

/* What a frame shows: a name, of a function or, if bit 0 is set, of a state. */
typedef uint64_t frame_key;

/* A frame whose calls are not complete. */
typedef struct open_frame {
    frame_key key;
    int64_t ns;
} open_frame;

struct flames {
    out *out;
    const profile *p;
    const uint32_t *order;            /* of the samples */
    open_frame open[FLAME_DEPTH + 1]; /* from the outermost on */
    size_t depth;
    int64_t largest[FLAME_FRAMES + 1]; /* a heap whose first item is the least */
    size_t largest_count;
    int64_t least; /* frames up to this value are not written */
    uint64_t written, omitted;
    uint32_t *index; /* + 1 in used, by name */
    uint32_t *used;  /* names */
    size_t used_count, used_room;
    bool writes;
    bool failed; /* memory was refused */
};

/* ---- the frames of a sample -------------------------------------------------------------------
 */

static bool has_state(const profile *p)
{
    return p->kind == PROFILE_OFFCPU || p->kind == PROFILE_WALL;
}

static size_t key_count(const profile *p, const profile_sample *s)
{
    size_t depth = stacks_depth(p->stacks, s->stack);
    depth = depth == 0 ? 1 : depth < FLAME_DEPTH ? depth : FLAME_DEPTH;
    return depth + has_state(p);
}

/* The n-th frame of a sample, from the outermost on. Deep stacks are cut at their innermost end. */
static frame_key key_at(const profile *p, const profile_sample *s, size_t n)
{
    size_t depth = stacks_depth(p->stacks, s->stack);
    if (n + 1 == key_count(p, s) && has_state(p)) {
        size_t size;
        const char *name = profile_state(p, s, &size);
        return (frame_key)stacks_name(p->stacks, name, size) << 1 | 1;
    }
    return depth ? (frame_key)stacks_frame_at(p->stacks, s->stack, depth - 1 - n)->function << 1
                 : 0;
}

static int by_stack(const void *a, const void *b, void *ctx)
{
    const profile *p = ctx;
    const profile_sample *x = &p->samples[*(const uint32_t *)a];
    const profile_sample *y = &p->samples[*(const uint32_t *)b];
    size_t m = key_count(p, x), n = key_count(p, y);
    for (size_t i = 0; i < m && i < n; i++) {
        frame_key first = key_at(p, x, i), second = key_at(p, y, i);
        if (first != second)
            return first < second ? -1 : 1;
    }
    return (m > n) - (m < n);
}

/* The numbers of the samples in that order; NULL if memory is refused. */
static uint32_t *sort_samples(const profile *p)
{
    uint32_t *order = malloc((p->count + 1) * sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < p->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, p->count, sizeof *order, by_stack, (void *)p);
    return order;
}

/* ---- the tree ---------------------------------------------------------------------------------
 */

/* Keeps the largest values; the least of them is the first. */
static void keep_largest(flames *f, int64_t ns)
{
    size_t at, next;
    if (f->largest_count <= FLAME_FRAMES) {
        at = f->largest_count++;
        for (; at > 0 && f->largest[(at - 1) / 2] > ns; at = (at - 1) / 2)
            f->largest[at] = f->largest[(at - 1) / 2];
        f->largest[at] = ns;
        return;
    }
    if (ns <= f->largest[0])
        return;
    for (at = 0; (next = 2 * at + 1) < f->largest_count; at = next) {
        if (next + 1 < f->largest_count && f->largest[next + 1] < f->largest[next])
            next++;
        if (f->largest[next] >= ns)
            break;
        f->largest[at] = f->largest[next];
    }
    f->largest[at] = ns;
}

/* The index of a name in the list of names, which is written at the end. */
static uint32_t name_index(flames *f, uint32_t name)
{
    if (f->index[name])
        return f->index[name] - 1;
    uint32_t *used = vector_room(f->used, &f->used_room, f->used_count, sizeof *used);
    if (!used) {
        f->failed = true;
        return 0;
    }
    f->used = used;
    f->used[f->used_count] = name;
    f->index[name] = (uint32_t)++f->used_count;
    return f->index[name] - 1;
}

/* A frame is complete: the frames that it calls are. */
static void close_frame(flames *f)
{
    const open_frame *frame = &f->open[--f->depth];
    if (f->depth > 0)
        f->open[f->depth - 1].ns = sum_of_times(f->open[f->depth - 1].ns, frame->ns);
    if (!f->writes) {
        keep_largest(f, frame->ns);
        return;
    }
    if (frame->ns <= f->least) {
        f->omitted++;
        return;
    }
    int64_t name = name_index(f, (uint32_t)(frame->key >> 1));
    out_printf(f->out, "%s%zu,%" PRId64 ",%" PRId64, f->written++ ? "," : "", f->depth,
               frame->key & 1 ? -1 - name : name, frame->ns);
}

/* Visits all frames, each after those that it calls. */
static void walk(flames *f, bool writes)
{
    f->writes = writes;
    for (size_t i = 0; i < f->p->count; i++) {
        const profile_sample *s = &f->p->samples[f->order[i]];
        size_t count = key_count(f->p, s), common = 0;
        while (common < f->depth && common < count &&
               f->open[common].key == key_at(f->p, s, common))
            common++;
        while (f->depth > common)
            close_frame(f);
        for (; f->depth < count; f->depth++)
            f->open[f->depth] = (open_frame){key_at(f->p, s, f->depth), 0};
        f->open[count - 1].ns = sum_of_times(f->open[count - 1].ns, s->ns);
    }
    while (f->depth > 0)
        close_frame(f);
}

int64_t flames_sum(const profile *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum = sum_of_times(sum, p->samples[i].ns);
    return sum;
}

bool flames_put(flames *f, const profile *p)
{
    uint32_t *order = sort_samples(p);
    if (!order)
        return false;
    f->p = p;
    f->order = order;
    f->largest_count = 0;
    f->written = f->omitted = 0;
    walk(f, false);
    f->least = f->largest_count > FLAME_FRAMES ? f->largest[0] : 0;
    out_printf(f->out, "{\"kind\":\"%s\",\"total\":%" PRId64 ",\"frames\":[", profile_name(p->kind),
               flames_sum(p));
    walk(f, true);
    out_printf(f->out, "],\"omitted\":%" PRIu64 ",\"least\":%" PRId64 "}", f->omitted, f->least);
    free(order);
    return !f->failed;
}

flames *flames_new(out *o, stacks *names)
{
    flames *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    /* The names of the states are added while the trees are written. */
    for (unsigned i = 0; i < GOTRACE_STATE_IDLE; i++) {
        const char *name = gotrace_state_name((gotrace_state)i);
        stacks_name(names, name, strlen(name));
    }
    f->out = o;
    f->index = calloc(names->name_count + 1, sizeof *f->index);
    if (f->index && !names->failed)
        return f;
    flames_free(f);
    return NULL;
}

void flames_free(flames *f)
{
    if (!f)
        return;
    free(f->index);
    free(f->used);
    free(f);
}

const uint32_t *flames_names(const flames *f, size_t *count)
{
    *count = f->used_count;
    return f->used;
}
