/*
 * running.c - how long each goroutine of a trace ran.
 *
 *   cc -o running running.c $(pkg-config --cflags --libs gotrace)
 *   ./running app.trace
 */
#include <gotrace.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct goroutine {
    uint64_t id;
    uint64_t total; /* ns running */
    int64_t since;  /* start of the current run, ns */
    char *start;    /* start function, copied: strings are valid only in their generation */
} goroutine;

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const goroutine *)a)->id, y = ((const goroutine *)b)->id;
    return (x > y) - (x < y);
}

/* Returns the goroutine with that id, and adds it if it is new; NULL if memory ran out. */
static goroutine *find(void **tree, uint64_t id)
{
    goroutine wanted = {.id = id};
    void *found = tfind(&wanted, tree, compare);
    if (found)
        return *(goroutine **)found;
    goroutine *added = malloc(sizeof *added);
    if (!added)
        return NULL;
    *added = wanted;
    if (!tsearch(added, tree, compare)) {
        free(added);
        return NULL;
    }
    return added;
}

static void drop(void *node)
{
    free(((goroutine *)node)->start);
    free(node);
}

static bool follow(gotrace_reader *reader, const gotrace_event *e, void **tree)
{
    if (e->kind != GOTRACE_KIND_TRANSITION || e->resource != GOTRACE_RESOURCE_GOROUTINE ||
        e->flags & GOTRACE_EVENT_FUTILE)
        return true;
    goroutine *g = find(tree, e->subject);
    if (!g)
        return false;
    if (e->from == GOTRACE_STATE_RUNNING)
        g->total += (uint64_t)e->time - (uint64_t)g->since;
    if (e->to == GOTRACE_STATE_RUNNING)
        g->since = e->time;
    /* Up to Go 1.6 start_stack is a program counter, and there are no names. */
    gotrace_frame frame;
    if (!g->start && gotrace_event_start_stack(e) && gotrace_reader_summary(reader)->version >= 7 &&
        gotrace_reader_stack(reader, gotrace_event_start_stack(e), &frame, 1) > 0 && frame.function)
        g->start = strndup(frame.function, frame.function_size);
    return true;
}

static void print(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit != postorder && visit != leaf)
        return;
    const goroutine *g = *(goroutine *const *)node;
    printf("G%-5llu %9.3f ms  %s\n", (unsigned long long)g->id, (double)g->total / 1e6,
           g->start ? g->start : "");
}

/* Called for each problem. Returns true: reading continues where it can. */
static bool report(void *file, const gotrace_error *problem)
{
    fprintf(stderr, "%s: %s\n", (const char *)file, problem->message);
    return true;
}

int main(int argc, char **argv)
{
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    gotrace_config config = GOTRACE_INIT(gotrace_config);
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    const gotrace_event *event;
    gotrace_status status;
    void *tree = NULL;

    if (argc != 2) {
        fprintf(stderr, "usage: running TRACE\n");
        return 2;
    }
    config.on_problem = report;
    config.callback_ctx = argv[1];
    if (gotrace_source_open(argv[1], &config, &source, &error) < 0 ||
        gotrace_reader_open(source, &config, &reader, &error) < 0) {
        report(argv[1], &error);
        gotrace_source_close(source);
        return 1;
    }
    while ((status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT)
        if (!follow(reader, event, &tree))
            break;
    if (status == GOTRACE_ERROR)
        report(argv[1], gotrace_reader_error(reader));
    twalk(tree, print);

    tdestroy(tree, drop);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return status != GOTRACE_END;
}
