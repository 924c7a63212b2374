/* table.c - the rows of a comparison: values of both sides, and whether they differ. */
#include <math.h>
#include <stdlib.h>

#include "core/malloc.h"
#include "formats/common/vector.h"
#include "formats/diff/diff.h"

/* What is so rare or so short in both sides is not tested: the fewer tests there are, the smaller
 * differences are found. That depends on both sides together, and so not on their difference. */
enum {
    LEAST_EVENTS = 10,   /* of a trace, on average */
    LEAST_TIME = 100000, /* ns per second of trace: a ten-thousandth */
    LEAST_ALIVE = 10,
};

bool diff_table_init(diff_table *t)
{
    *t = (diff_table){.names = stacks_new(STACKS_BY_FUNCTION)};
    return t->names != NULL;
}

void diff_table_free(diff_table *t)
{
    stacks_free(t->names);
    free(t->entries.list);
    free(t->subjects);
    free(t->rows);
    gt_lookup_free(&t->lookup, gt_malloc());
}

/* ---- subjects ---------------------------------------------------------------------------------
 */

static uint32_t name_of(diff_table *t, const stacks *from, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(from, name, &size);
    return name ? stacks_name(t->names, text, size) : 0;
}

/* The stack with the same frames. */
static uint32_t stack_of(diff_table *t, const stacks *from, uint32_t stack, uint32_t *frames)
{
    const size_t depth = stacks_depth(from, stack);
    for (size_t i = 0; i < depth; i++) {
        const stacks_frame *frame = stacks_frame_at(from, stack, i);
        size_t size;
        const char *text = stacks_text(from, frame->function, &size);
        frames[i] = stacks_frame_of(
            t->names, &(gotrace_frame){.function = text, .function_size = size, .pc = frame->pc});
    }
    return depth && !t->names->failed ? stacks_of_frames(t->names, frames, depth) : 0;
}

static bool is_same(const diff_subject *a, const diff_subject *b)
{
    return a->kind == b->kind && a->name == b->name && a->stack == b->stack;
}

/* The index of a subject, which is added if it is new. */
static uint32_t subject_of(diff_table *t, const diff_subject *of)
{
    size_t slot;
    diff_change *list = vector_room(t->subjects, &t->subject_room, t->subject_count, sizeof *list);
    if (list)
        t->subjects = list;
    if (!list || !gt_lookup_reserve(&t->lookup, gt_malloc())) {
        t->failed = true;
        return 0;
    }
    uint64_t hash = gt_hash(t->lookup.seed, of->kind);
    hash = gt_hash_add(t->lookup.seed, hash, (uint64_t)of->name << 32 | of->stack);
    uint32_t number = gt_lookup_first(&t->lookup, hash, &slot);
    while (number && !is_same(&list[number - 1].of, of))
        number = gt_lookup_next(&t->lookup, hash, &slot);
    if (number)
        return number - 1;
    list[t->subject_count] = (diff_change){.of = *of};
    gt_lookup_put(&t->lookup, slot, hash, (uint32_t)++t->subject_count);
    return (uint32_t)t->subject_count - 1;
}

static void add_entry(diff_table *t, const diff_run *run, const diff_entry *e, unsigned side,
                      uint32_t *frames)
{
    const stacks *from = run->names;
    diff_entry *list = vector_room(t->entries.list, &t->entries.room, t->entries.count,
                                   sizeof *list);
    if (!list) {
        t->failed = true;
        return;
    }
    t->entries.list = list;
    diff_entry *made = &list[t->entries.count++];
    *made = *e;
    made->side = (uint8_t)side;
    made->of.name = name_of(t, from, e->of.name);
    made->of.stack = stack_of(t, from, e->of.stack, frames);
    made->subject = subject_of(t, &made->of);
    if (!run->parts)
        made->column = (uint32_t)t->sides[side].runs;
}

void diff_table_add(diff_table *t, const diff_run *run, unsigned side)
{
    size_t deepest = 1;
    for (uint32_t i = 1; i <= run->names->stack_count; i++)
        if (stacks_depth(run->names, i) > deepest)
            deepest = stacks_depth(run->names, i);
    uint32_t *frames = calloc(deepest, sizeof *frames);
    for (size_t i = 0; frames && !t->failed && i < run->entries.count; i++)
        add_entry(t, run, &run->entries.list[i], side, frames);
    t->failed |= !frames || t->names->failed;
    free(frames);
    t->parts |= run->parts;
    if (run->parts)
        return;
    t->sides[side].runs++;
    t->sides[side].duration = sum_of_times(t->sides[side].duration, run->duration);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* The entries of one subject. */
typedef struct cells {
    const diff_entry **of[DIFF_SIDES][2]; /* by side, whether it is a part, and column */
    size_t columns[DIFF_SIDES][2];
    double *lists[DIFF_SIDES]; /* room for values */
} cells;

static bool cells_init(cells *c, const diff_table *t)
{
    bool done = true;
    for (unsigned side = 0; side < DIFF_SIDES; side++) {
        c->columns[side][0] = t->sides[side].runs;
        c->columns[side][1] = t->parts ? DIFF_PARTS : 0;
        for (unsigned k = 0; k < 2; k++) {
            c->of[side][k] = calloc(c->columns[side][k] + 1, sizeof *c->of[side][k]);
            done &= c->of[side][k] != NULL;
        }
        c->lists[side] = calloc(c->columns[side][0] + DIFF_PARTS, sizeof *c->lists[side]);
        done &= c->lists[side] != NULL;
    }
    return done;
}

static void cells_free(cells *c)
{
    for (unsigned side = 0; side < DIFF_SIDES; side++) {
        free(c->of[side][0]);
        free(c->of[side][1]);
        free(c->lists[side]);
    }
}

/* Fills them with entries of a subject, from the first one on. Returns the index after the last. */
static size_t cells_fill(cells *c, const diff_table *t, size_t first)
{
    const uint32_t subject = t->entries.list[first].subject;
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        for (unsigned k = 0; k < 2; k++)
            memset(c->of[side][k], 0, c->columns[side][k] * sizeof *c->of[side][k]);
    for (; first < t->entries.count && t->entries.list[first].subject == subject; first++) {
        const diff_entry *e = &t->entries.list[first];
        c->of[e->side][e->is_part][e->column] = e;
    }
    return first;
}

/* Whether what has no events has the value 0, and not none. */
static bool is_zero_without(diff_figure figure)
{
    const diff_unit unit = diff_figures[figure].unit;
    return unit != UNIT_NS && unit != UNIT_BYTES;
}

/* The values of a side, of traces or of parts. Returns their number. */
static size_t values_of(const cells *c, unsigned side, bool parts, diff_figure figure)
{
    size_t count = 0;
    for (size_t i = 0; i < c->columns[side][parts]; i++) {
        const diff_entry *e = c->of[side][parts][i];
        const double value = e ? e->values[figure] : is_zero_without(figure) ? 0 : NAN;
        if (!isnan(value))
            c->lists[side][count++] = value;
    }
    return count;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static diff_value value_of(const cells *c, unsigned side, diff_figure figure)
{
    const size_t count = values_of(c, side, false, figure);
    double *list = c->lists[side];
    if (count == 0)
        return (diff_value){.value = NAN};
    qsort(list, count, sizeof *list, ascending);
    diff_value v = {.value = (list[(count - 1) / 2] + list[count / 2]) / 2};
    v.spread = fmax(v.value - list[0], list[count - 1] - v.value);
    return v;
}

static double sum_of_sides(const diff_row *r)
{
    return fmax(r->sides[DIFF_OLD].value, 0) + fmax(r->sides[DIFF_NEW].value, 0);
}

/* Whether there is enough to be tested. */
static bool is_enough(const cells *c, diff_kind kind, diff_figure figure, const diff_row *r)
{
    double events = 0, time = 0, runs = 0;
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < c->columns[side][0]; i++) {
            const diff_entry *e = c->of[side][0][i];
            events += e ? e->events : 0;
            time += e ? e->values[DIFF_TIME] : 0;
            runs++;
        }
    if (figure == DIFF_ALIVE)
        return sum_of_sides(r) >= LEAST_ALIVE;
    if (figure == DIFF_BLOCKED)
        time = fmax(time, sum_of_sides(r) * runs / 2);
    const bool counted = kind != DIFF_GOROUTINE || figure == DIFF_COUNT;
    return time >= LEAST_TIME * runs && (!counted || events >= LEAST_EVENTS * runs);
}

static void test(diff_table *t, const cells *c, diff_figure figure, diff_row *r)
{
    const size_t old = values_of(c, DIFF_OLD, t->parts, figure),
                 new = values_of(c, DIFF_NEW, t->parts, figure);
    r->p = rank_test(c->lists[DIFF_OLD], old, c->lists[DIFF_NEW], new);
    t->failed |= r->p < 0;
}

static void add_row(diff_table *t, const cells *c, uint32_t subject, diff_figure figure)
{
    diff_row r = {.subject = subject, .figure = (uint8_t)figure, .p = 1, .q = 1};
    const diff_kind kind = t->subjects[subject].of.kind;
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        r.sides[side] = value_of(c, side, figure);
    if (sum_of_sides(&r) <= 0)
        return;
    r.tested = is_enough(c, kind, figure, &r);
    if (r.tested)
        test(t, c, figure, &r);
    diff_row *rows = vector_room(t->rows, &t->row_room, t->row_count, sizeof *rows);
    if (!rows) {
        t->failed = true;
        return;
    }
    t->rows = rows;
    rows[t->row_count++] = r;
}

static double time_changed(const cells *c, diff_kind kind)
{
    double values[DIFF_SIDES][3];
    static const diff_figure used[] = {DIFF_TIME, DIFF_MEAN, DIFF_COUNT};
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < 3; i++)
            values[side][i] = fmax(value_of(c, side, used[i]).value, 0);
    const double *old = values[DIFF_OLD], *new = values[DIFF_NEW];
    /* Where as many tasks as can be are done at a time, their sum does not change. */
    if ((kind == DIFF_TASK || kind == DIFF_REGION) && old[1] > 0 && new[1] > 0)
        return fabs(old[1] - new[1]) * (old[2] + new[2]) / 2;
    return fabs(old[0] - new[0]);
}

static bool has_trace(const cells *c)
{
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < c->columns[side][0]; i++)
            if (c->of[side][0][i])
                return true;
    return false;
}

static int by_subject(const void *a, const void *b)
{
    const diff_entry *x = a, *y = b;
    int order = (x->subject > y->subject) - (x->subject < y->subject);
    order = order ? order : x->side - y->side;
    order = order ? order : x->is_part - y->is_part;
    return order ? order : (x->column > y->column) - (x->column < y->column);
}

static int by_time(const void *a, const void *b, void *ctx)
{
    const diff_row *x = a, *y = b;
    const diff_change *list = ctx, *i = &list[x->subject], *k = &list[y->subject];
    int order = (i->ns < k->ns) - (i->ns > k->ns);
    order = order ? order : (x->subject > y->subject) - (x->subject < y->subject);
    return order ? order : x->figure - y->figure;
}

static int by_p(const void *a, const void *b)
{
    const diff_row *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

/* Whether a change matters. With one trace a side it must be larger than what differs between two
 * runs of one program. */
static bool is_large(const diff_table *t, const diff_row *r)
{
    const double least = t->parts ? diff_figures[r->figure].least : DIFF_LEAST_CHANGE;
    const double old = r->sides[DIFF_OLD].value, new = r->sides[DIFF_NEW].value;
    return !(fmax(old, new) < least * fmin(old, new));
}

/* Corrects for the number of tests. */
static void decide(diff_table *t)
{
    double *p = calloc(t->row_count + 1, sizeof *p);
    if (!p) {
        t->failed = true;
        return;
    }
    if (t->row_count)
        qsort(t->rows, t->row_count, sizeof *t->rows, by_p);
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].tested)
            p[t->tested++] = t->rows[i].p;
    rank_test_adjust(p, t->tested);
    for (size_t i = 0, n = 0; i < t->row_count; i++) {
        diff_row *r = &t->rows[i];
        r->q = r->tested ? p[n++] : 1;
        r->significant = r->q <= DIFF_ALPHA && is_large(t, r);
        t->significant += r->significant;
        t->subjects[r->subject].significant |= r->significant;
    }
    free(p);
}

void diff_table_finish(diff_table *t)
{
    cells c = {0};
    if (t->entries.count && !t->failed)
        qsort(t->entries.list, t->entries.count, sizeof *t->entries.list, by_subject);
    t->failed |= !cells_init(&c, t);
    for (size_t i = 0; i < t->entries.count && !t->failed;) {
        const uint32_t subject = t->entries.list[i].subject;
        diff_change *of = &t->subjects[subject];
        of->first = i;
        i = cells_fill(&c, t, i);
        of->ns = time_changed(&c, of->of.kind);
        const unsigned has = has_trace(&c) ? diff_figures_of(of->of.kind) : 0;
        for (unsigned figure = 0; figure < DIFF_FIGURE_COUNT; figure++)
            if (has >> figure & 1)
                add_row(t, &c, subject, figure);
    }
    cells_free(&c);
    if (!t->failed)
        decide(t);
    if (!t->failed && t->row_count)
        qsort_r(t->rows, t->row_count, sizeof *t->rows, by_time, t->subjects);
}

double diff_row_change(const diff_row *r)
{
    const double old = r->sides[DIFF_OLD].value, new = r->sides[DIFF_NEW].value;
    if (isnan(old) || isnan(new))
        return isnan(old) ? INFINITY : -1;
    return old > 0 ? (new - old) / old : new > 0 ? INFINITY : 0;
}
