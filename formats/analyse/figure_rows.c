/* figure_rows.c - selects and sorts the rows of the tables. */
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/figure_rows.h"

/* Compares names by their bytes, so that the order does not depend on when they occurred. */
static int compare_names(const statistics *s, uint32_t a, uint32_t b)
{
    size_t x, y;
    const char *first = stacks_text(s->stacks, a, &x), *second = stacks_text(s->stacks, b, &y);
    int order = memcmp(first, second, x < y ? x : y);
    return order ? order : (x > y) - (x < y);
}

static int compare_sums(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

/* A copy of a list of pointers; *count: their number. */
static void *copy_list(const figures *f, bool *failed)
{
    void **list = f->count ? malloc(f->count * sizeof *list) : NULL;
    if (list)
        memcpy(list, f->items, f->count * sizeof *list);
    else if (f->count)
        *failed = true;
    return list;
}

const char *function_order_name(size_t n)
{
    static const char *const names[] = {
#define FUNCTION_ORDER(name, word) #word,
        FUNCTION_ORDERS(FUNCTION_ORDER)
#undef FUNCTION_ORDER
    };
    return n < FUNCTION_ORDER_COUNT ? names[n] : NULL;
}

/* The time that goroutines of a function wait for other ones. */
static int64_t sync_time(const statistics *s, const function_figure *f)
{
    int64_t sum = 0;
    for (size_t i = 0; i < f->time_count; i++)
        if (f->times[i].kind == FIGURE_BLOCK && reason_is_sync(s->stacks, f->times[i].name))
            sum = sum_of_times(sum, value_set_histogram(&f->times[i]).sum);
    return sum;
}

int64_t function_measure(const statistics *s, const function_figure *f, function_order order)
{
    switch (order) {
    case FUNCTIONS_BY_COST:
        return sum_of_times(sum_of_times(figure_sum(f, TIME_EXEC), figure_sum(f, TIME_SCHED_WAIT)),
                            sync_time(s, f));
    case FUNCTIONS_BY_TOTAL: return figure_sum(f, TIME_TOTAL);
    case FUNCTIONS_BY_EXEC: return figure_sum(f, TIME_EXEC);
    case FUNCTIONS_BY_SCHED: return figure_sum(f, TIME_SCHED_WAIT);
    case FUNCTIONS_BY_SYNC: return sync_time(s, f);
    case FUNCTIONS_BY_BLOCK: return figure_sum(f, TIME_BLOCK);
    case FUNCTIONS_BY_SYSCALL:
        return sum_of_times(figure_sum(f, TIME_SYSCALL), figure_sum(f, TIME_SYSCALL_BLOCK));
    case FUNCTIONS_BY_GOROUTINES: return (int64_t)f->count;
    case FUNCTIONS_BY_ALIVE: return (int64_t)(f->count - f->ended);
    case FUNCTION_ORDER_COUNT: break;
    }
    return 0;
}

/* A row, to be sorted. */
typedef struct measured {
    function_figure *row;
    int64_t measure;
} measured;

static int by_measure(const void *a, const void *b, void *ctx)
{
    const measured *x = a, *y = b;
    int order = compare_sums(x->measure, y->measure);
    return order ? order : compare_names(ctx, x->row->name, y->row->name);
}

function_figure **rows_functions(const statistics *s, function_order order, size_t *count,
                                 bool *failed)
{
    function_figure **list = copy_list(&s->functions, failed);
    measured *rows = list ? malloc(s->functions.count * sizeof *rows) : NULL;
    *count = 0;
    for (size_t i = 0; rows && i < s->functions.count; i++)
        if (list[i]->count > 0)
            rows[(*count)++] = (measured){list[i], function_measure(s, list[i], order)};
    if (rows)
        qsort_r(rows, *count, sizeof *rows, by_measure, (void *)s);
    *failed = *failed || (list && !rows);
    for (size_t i = 0; i < *count; i++)
        list[i] = rows[i].row;
    free(rows);
    return list;
}

static int by_latency(const void *a, const void *b, void *ctx)
{
    const function_figure *x = *(void *const *)a, *y = *(void *const *)b;
    int order = compare_sums(value_set_histogram(&x->latency).sum,
                             value_set_histogram(&y->latency).sum);
    return order ? order : compare_names(ctx, x->name, y->name);
}

function_figure **rows_latencies(const statistics *s, size_t *count, bool *failed)
{
    function_figure **list = copy_list(&s->functions, failed);
    *count = 0;
    for (size_t i = 0; list && i < s->functions.count; i++)
        if (list[i]->latency.stored != VALUES_NONE)
            list[(*count)++] = list[i];
    if (list)
        qsort_r(list, *count, sizeof *list, by_latency, (void *)s);
    return list;
}

static int by_cause(const void *a, const void *b, void *ctx)
{
    const caused *x = a, *y = b;
    int order = compare_sums(x->figure->values.sum, y->figure->values.sum);
    if (order == 0)
        order = x->cause - y->cause;
    return order ? order : compare_names(ctx, x->figure->reason, y->figure->reason);
}

caused *rows_causes(const statistics *s, size_t *count, bool *failed)
{
    size_t all = 0;
    for (size_t i = 0; i < CAUSES; i++)
        all += s->causes[i].count;
    caused *list = all ? malloc(all * sizeof *list) : NULL;
    *count = 0;
    *failed |= all && !list;
    for (uint8_t i = 0; list && i < CAUSES; i++)
        for (size_t k = 0; k < s->causes[i].count; k++)
            list[(*count)++] = (caused){i, s->causes[i].items[k]};
    if (list)
        qsort_r(list, *count, sizeof *list, by_cause, (void *)s);
    return list;
}

static int by_sum(const void *a, const void *b, void *ctx)
{
    const span_figure *x = *(void *const *)a, *y = *(void *const *)b;
    int order = compare_sums(x->values.sum, y->values.sum);
    return order ? order : compare_names(ctx, x->name, y->name);
}

span_figure **rows_spans(const statistics *s, const figures *f, bool *failed)
{
    span_figure **list = copy_list(f, failed);
    if (list)
        qsort_r(list, f->count, sizeof *list, by_sum, (void *)s);
    return list;
}

static int by_stop(const void *a, const void *b, void *ctx)
{
    const stop_figure *x = *(void *const *)a, *y = *(void *const *)b;
    int order = compare_sums(x->values.sum, y->values.sum);
    return order ? order : compare_names(ctx, x->reason, y->reason);
}

stop_figure **rows_stops(const statistics *s, bool *failed)
{
    stop_figure **list = copy_list(&s->stops, failed);
    if (list)
        qsort_r(list, s->stops.count, sizeof *list, by_stop, (void *)s);
    return list;
}

static int by_reason_sum(const void *a, const void *b, void *ctx)
{
    const reason_figure *x = *(void *const *)a, *y = *(void *const *)b;
    int order = compare_sums(x->values.sum, y->values.sum);
    return order ? order : compare_names(ctx, x->reason, y->reason);
}

reason_figure **rows_reasons(const statistics *s, uint8_t state, size_t *count, bool *failed)
{
    reason_figure **list = s->reason_count ? malloc(s->reason_count * sizeof *list) : NULL;
    *count = 0;
    if (!list) {
        *failed |= s->reason_count > 0;
        return NULL;
    }
    for (size_t i = 0; i < s->reason_count; i++)
        if (s->reasons[i].state == state)
            list[(*count)++] = &s->reasons[i];
    qsort_r(list, *count, sizeof *list, by_reason_sum, (void *)s);
    return list;
}

/* Stacks are numbered as they occur, which does not depend on hashes. */
static int by_stack_sum(const void *a, const void *b)
{
    const stack_figure *x = *(void *const *)a, *y = *(void *const *)b;
    int order = compare_sums(x->sum, y->sum);
    return order ? order : (x->stack > y->stack) - (x->stack < y->stack);
}

stack_figure **rows_stacks(const statistics *s, uint8_t state, uint32_t reason, size_t *count,
                           bool *failed)
{
    stack_figure **list = s->by_stack_count ? malloc(s->by_stack_count * sizeof *list) : NULL;
    *count = 0;
    if (!list) {
        *failed |= s->by_stack_count > 0;
        return NULL;
    }
    for (size_t i = 0; i < s->by_stack_count; i++) {
        const reason_figure *of = &s->reasons[s->by_stack[i].reason];
        if (of->state == state && (reason == 0 || of->reason == reason))
            list[(*count)++] = &s->by_stack[i];
    }
    qsort(list, *count, sizeof *list, by_stack_sum);
    return list;
}

stack_view *rows_stack_views(const statistics *s, stack_figure *const *list, size_t count,
                             bool folds, bool *failed)
{
    stack_row *rows = calloc(count + 1, sizeof *rows);
    if (!rows) {
        *failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = (stack_row){.group = list[i]->reason, .stack = list[i]->stack};
    stack_view *views = stack_views(s->stacks, rows, count, folds, failed);
    free(rows);
    return views;
}

uint32_t rows_network(const statistics *s)
{
    for (size_t i = 0; i < s->reason_count; i++)
        if (stacks_name_is(s->stacks, s->reasons[i].reason, "network"))
            return s->reasons[i].reason;
    return 0;
}

/* ---- samples ----------------------------------------------------------------------------------
 */

static int by_samples(const void *a, const void *b, void *ctx)
{
    const sampled *x = a, *y = b;
    int order = (x->self < y->self) - (x->self > y->self);
    order = order ? order : (x->total < y->total) - (x->total > y->total);
    return order ? order : compare_names(ctx, x->function, y->function);
}

/* Adds the samples of a stack to each of its functions once: last_stack is the last one that was
 * added. */
static void add_stack(const statistics *s, sampled *by_name, uint32_t *last_stack, uint32_t stack)
{
    size_t depth = stacks_depth(s->stacks, stack);
    for (size_t i = 0; i < depth; i++) {
        uint32_t function = stacks_frame_at(s->stacks, stack, i)->function;
        if (i == 0)
            by_name[function].self += s->samples[stack];
        if (last_stack[function] != stack)
            by_name[function].total += s->samples[stack];
        last_stack[function] = stack;
    }
    if (depth == 0)
        by_name[0].self += s->samples[stack];
}

sampled *rows_sampled(const statistics *s, size_t *count, bool *failed)
{
    size_t names = s->stacks->name_count + 1;
    sampled *list = calloc(names, sizeof *list);
    uint32_t *last_stack = calloc(names, sizeof *last_stack);
    *count = 0;
    for (uint32_t i = 0; list && last_stack && i < s->sample_room; i++)
        if (s->samples[i])
            add_stack(s, list, last_stack, i);
    if (!list || !last_stack) {
        *failed = true;
        free(list);
        free(last_stack);
        return NULL;
    }
    free(last_stack);
    for (uint32_t i = 0; i < names; i++) {
        if (list[i].self == 0 && list[i].total == 0)
            continue;
        list[*count] = list[i];
        list[(*count)++].function = i;
    }
    qsort_r(list, *count, sizeof *list, by_samples, (void *)s);
    return list;
}
