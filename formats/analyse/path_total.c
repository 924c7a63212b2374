/* path_total.c - adds up the rows of critical paths. */
#include "formats/analyse/path_total.h"

#include <stdlib.h>
#include <string.h>

#include "formats/analyse/histogram.h"
#include "formats/common/vector.h"

/* Frames of all nested stacks. */
enum { MOST_FRAMES = 1 << 22 };

/* ---- frames -----------------------------------------------------------------------------------
 */

static void push_frame(path_totals *t, uint32_t frame)
{
    uint32_t *frames = frame
                           ? vector_room(t->frames, &t->frame_room, t->frame_count, sizeof *frames)
                           : NULL;
    if (!frames) {
        t->failed = true;
        return;
    }
    t->frames = frames;
    frames[t->frame_count++] = frame;
}

static uint32_t frame_of_text(path_totals *t, const char *text, size_t size)
{
    return stacks_frame_of(t->stacks, &(gotrace_frame){.function = text, .function_size = size});
}

/* The frame of that number in the stacks of the paths. */
static uint32_t frame_of(path_totals *t, uint32_t number)
{
    const stacks *from = t->paths->stacks;
    uint32_t *known = vector_zeroed(t->known, &t->known_room, number, sizeof *known);
    if (!known)
        return 0;
    t->known = known;
    if (known[number] == 0) {
        const stacks_frame *f = &from->frames[number - 1];
        gotrace_frame frame = {.pc = f->pc, .line = f->line};
        frame.function = stacks_text(from, f->function, &frame.function_size);
        frame.file = stacks_text(from, f->file, &frame.file_size);
        known[number] = stacks_frame_of(t->stacks, &frame);
    }
    return known[number];
}

static void push_stack(path_totals *t, uint32_t stack)
{
    const stacks *from = t->paths->stacks;
    const size_t depth = stacks_depth(from, stack);
    for (size_t n = depth; n-- > 0;)
        push_frame(t, frame_of(t, from->numbers[from->stacks[stack - 1].first + n]));
}

/* "waiting (sync)" */
static uint32_t frame_of_wait(path_totals *t, uint32_t reason)
{
    const char *title = path_part_titles[PATH_WAITING];
    uint32_t *known = idmap_insert(&t->reasons, reason);
    if (!known)
        return 0;
    if (*known == 0) {
        size_t size, used = strlen(title);
        const char *text = stacks_text(t->paths->stacks, reason, &size);
        char *made = malloc(used + size + sizeof " ()");
        if (!made)
            return 0;
        memcpy(made, title, used);
        if (size > 0) {
            memcpy(made + used, " (", 2);
            memcpy(made + used + 2, text, size);
            made[used + 2 + size] = ')';
            used += size + 3;
        }
        *known = frame_of_text(t, made, used);
        free(made);
    }
    return *known;
}

static void push_state(path_totals *t, const path_part *row)
{
    const char *title = path_part_titles[row->kind];
    uint32_t *known = &t->states[row->kind];
    if (row->kind == PATH_WAITING) {
        push_frame(t, frame_of_wait(t, row->reason));
        return;
    }
    if (*known == 0)
        *known = frame_of_text(t, title, strlen(title));
    push_frame(t, *known);
}

/* The number of the stack of the current frames; 0 if memory is refused. */
static uint32_t stack_of_frames(path_totals *t)
{
    uint32_t *reversed = vector_fit(t->reversed, &t->reversed_room, t->frame_count,
                                    sizeof *reversed);
    if (!reversed) {
        t->failed = true;
        return 0;
    }
    t->reversed = reversed;
    for (size_t n = 0; n < t->frame_count; n++)
        reversed[n] = t->frames[t->frame_count - 1 - n];
    return stacks_of_frames(t->stacks, reversed, t->frame_count);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Adds a row to that of the current frames. stack: those without that of the state. */
static void add_row(path_totals *t, path_table *table, const path_part *row, uint32_t stack)
{
    const uint32_t number = stack_of_frames(t);
    path_total *rows = number ? vector_zeroed(table->rows, &table->room, number, sizeof *rows)
                              : NULL;
    if (!rows) {
        t->failed = true;
        return;
    }
    table->rows = rows;
    path_total *total = &rows[number];
    total->ns = sum_of_times(total->ns, row->end - row->begin);
    total->parts++;
    total->stack = stack;
    total->reason = row->kind == PATH_WAITING ? row->reason : 0;
    total->kind = row->kind;
}

static void add_to_tables(path_totals *t, const path_part *row)
{
    uint32_t stack = 0;
    t->frame_count = 0;
    if (row->stack && (row->kind == PATH_WAITING || row->kind == PATH_SYSCALL)) {
        push_stack(t, row->stack);
        stack = stack_of_frames(t);
    }
    push_state(t, row);
    if (row->depth == 0)
        add_row(t, &t->tables[PATH_OWN], row, stack);
    if (!row->spans)
        add_row(t, &t->tables[PATH_LEAVES], row, stack);
}

/* The stack of a goroutine in a row; 0: not known. One that became runnable is still where it
 * waited: the row has the stack of what made it so. */
static uint32_t own_stack(const path_totals *t, const path_part *row)
{
    if (row->kind != PATH_SCHEDULING)
        return row->stack;
    if (row->depth <= PATH_MOST_NESTED && t->waited[row->depth].goroutine == row->goroutine)
        return t->waited[row->depth].stack;
    return row->cause && row->cause != row->goroutine ? 0 : row->stack;
}

static void note_wait(path_totals *t, const path_part *row)
{
    if (row->depth > PATH_MOST_NESTED)
        return;
    t->waited[row->depth].goroutine = row->kind == PATH_WAITING ? row->goroutine : 0;
    t->waited[row->depth].stack = row->stack;
    if (row->spans && row->depth < PATH_MOST_NESTED)
        t->waited[row->depth + 1].goroutine = 0;
}

/* The stack of the goroutine, or where it starts. */
static void push_own_stack(path_totals *t, const path_part *row)
{
    const uint32_t stack = own_stack(t, row);
    if (stack) {
        push_stack(t, stack);
    } else if (row->function) {
        size_t size;
        const char *text = stacks_text(t->paths->stacks, row->function, &size);
        push_frame(t, frame_of_text(t, text, size));
    }
}

/* Adds a part, after the frames of the waits around it, or sets those of a wait. */
static void add_nested(path_totals *t, const path_part *row)
{
    const bool full = row->depth > 0 && (t->stacks->stack_count >= t->options.most_nested ||
                                         t->stacks->number_count >= MOST_FRAMES);
    const uint32_t most = full ? 1 : PATH_MOST_NESTED;
    const uint32_t level = row->depth < most ? row->depth : most;
    if (row->spans && row->depth >= most)
        return;
    t->frame_count = level ? t->ends[level - 1] : 0;
    if (full || row->depth > most)
        push_frame(t, frame_of_text(t, "...", strlen("...")));
    if (!full)
        push_own_stack(t, row);
    push_state(t, row);
    if (row->spans)
        t->ends[level] = t->frame_count;
    else
        add_row(t, &t->tables[PATH_NESTED], row, 0);
}

static void add_path(path_totals *t, const path_interval *i)
{
    const int64_t ns = i->end - i->begin;
    paths *p = t->paths;
    t->shortest = t->count == 0 || ns < t->shortest ? ns : t->shortest;
    t->longest = ns > t->longest ? ns : t->longest;
    t->begin = t->count == 0 || i->begin < t->begin ? i->begin : t->begin;
    t->end = t->count == 0 || i->end > t->end ? i->end : t->end;
    t->ns = sum_of_times(t->ns, ns);
    t->count++;
    paths_walk(p, i);
    t->waited[0].goroutine = 0;
    t->divided = sum_of_times(t->divided, p->divided);
    for (uint64_t n = 0; n < p->parts.count && !t->failed; n++) {
        const path_part *row = paths_part(p, n);
        if (!row)
            return;
        if (t->options.nested) {
            add_nested(t, row);
            note_wait(t, row);
        } else {
            add_to_tables(t, row);
        }
    }
}

bool path_totals_make(path_totals *t, paths *p, const path_totals_options *options)
{
    const path_interval *i;
    int error;
    *t = (path_totals){.options = *options, .paths = p, .stacks = stacks_new(options->detail)};
    idmap_init(&t->reasons, sizeof(uint32_t));
    t->failed = !t->stacks;
    for (size_t n = 0; !t->failed && !paths_failed(p, &error) && (i = paths_interval(p, n)); n++)
        add_path(t, i);
    t->failed |= t->stacks && t->stacks->failed;
    return !t->failed;
}

void path_totals_free(path_totals *t)
{
    stacks_free(t->stacks);
    for (size_t n = 0; n < PATH_TABLES; n++)
        free(t->tables[n].rows);
    idmap_free(&t->reasons);
    free(t->known);
    free(t->frames);
    free(t->reversed);
    *t = (path_totals){0};
}

/* ---- results ----------------------------------------------------------------------------------
 */

static int by_state(const void *a, const void *b)
{
    const path_total_row *x = a, *y = b;
    return (x->state > y->state) - (x->state < y->state);
}

/* Names and stacks are numbered as they occur. */
static int by_time(const void *a, const void *b)
{
    const path_total_row *x = a, *y = b;
    if (x->state_ns != y->state_ns)
        return x->state_ns < y->state_ns ? 1 : -1;
    if (x->state != y->state)
        return by_state(a, b);
    if (x->total.ns != y->total.ns)
        return x->total.ns < y->total.ns ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sets the sums of states. */
static void sum_states(path_total_row *rows, size_t count)
{
    qsort(rows, count, sizeof *rows, by_state);
    for (size_t first = 0, n; first < count; first = n) {
        path_total_row sum = {0};
        for (n = first; n < count && rows[n].state == rows[first].state; n++) {
            sum.state_ns = sum_of_times(sum.state_ns, rows[n].total.ns);
            sum.state_parts += rows[n].total.parts;
        }
        for (size_t k = first; k < n; k++) {
            rows[k].state_ns = sum.state_ns;
            rows[k].state_parts = sum.state_parts;
        }
    }
    qsort(rows, count, sizeof *rows, by_time);
}

path_total_row *path_totals_rows(const path_totals *t, unsigned table, size_t *count, bool *failed)
{
    const path_table *from = &t->tables[table];
    size_t used = 0;
    *count = 0;
    for (size_t n = 0; n < from->room; n++)
        used += from->rows[n].parts > 0;
    path_total_row *rows = used ? malloc(used * sizeof *rows) : NULL;
    *failed = used && !rows;
    for (size_t n = 0; rows && n < from->room; n++)
        if (from->rows[n].parts > 0)
            rows[(*count)++] = (path_total_row){
                .total = from->rows[n],
                .number = (uint32_t)n,
                .state = stacks_frame_at(t->stacks, (uint32_t)n, 0)->function};
    if (rows)
        sum_states(rows, used);
    return rows;
}

bool path_totals_profile(path_totals *t, profile *made)
{
    static const uint8_t state_of[PATH_PART_KINDS] = {
        [PATH_EXECUTION] = GOTRACE_STATE_RUNNING,   [PATH_ASSIST] = GOTRACE_STATE_RUNNING,
        [PATH_SCHEDULING] = GOTRACE_STATE_RUNNABLE, [PATH_SYSCALL] = GOTRACE_STATE_SYSCALL,
        [PATH_WAITING] = GOTRACE_STATE_WAITING,     [PATH_UNKNOWN] = GOTRACE_STATE_UNDETERMINED};
    const path_table *from = &t->tables[PATH_NESTED];
    *made = (profile){
        .kind = PROFILE_WALL, .stacks = t->stacks, .owns_stacks = true, .nested = true};
    if (__builtin_sub_overflow(t->end, t->begin, &made->duration))
        made->duration = INT64_MAX;
    t->stacks = NULL;
    for (size_t n = 0; n < from->room; n++) {
        const path_total *total = &from->rows[n];
        if (total->parts == 0)
            continue;
        size_t size;
        const char *reason = stacks_text(t->paths->stacks, total->reason, &size);
        profile_sample *samples = vector_room(made->samples, &made->room, made->count,
                                              sizeof *samples);
        if (!samples)
            return false;
        made->samples = samples;
        samples[made->count++] = (profile_sample){.stack = (uint32_t)n,
                                                  .reason = stacks_name(made->stacks, reason, size),
                                                  .state = state_of[total->kind],
                                                  .count = total->parts,
                                                  .ns = total->ns};
    }
    return !made->stacks->failed;
}
