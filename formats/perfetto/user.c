/* user.c - user annotations: tasks, regions and logs. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"

enum {
    /* The viewer does not show slices nested deeper than 512. */
    MOST_REGIONS = 400,
    /* Deeper tasks are placed next to their parents (the viewer allows 100 tracks above one). */
    MOST_TASK_DEPTH = 50,
};

/* Adds the task's id to the event; the viewer highlights all events with the same id. */
static void annotate_task(perfetto *p, uint64_t task)
{
    if (!task)
        return;
    protobuf_uint(&p->w, EVENT_CORRELATION_ID, own_id(p, task));
    event_annotate_uint(p, ANNOTATE_TASK, task);
}

/* Forgets the innermost region that the next time range would begin again; false if there is none.
 */
static bool region_left(perfetto_goroutine *g)
{
    perfetto_region *region = g->region;

    if (region)
        g->region = region->outer;
    free(region);
    return region;
}

/* Marks the open slice, whose begin is not in the trace. */
static void annotate_unbegun(perfetto *p)
{
    static const char mark[] = "not in the trace";

    event_annotate_string(p, ANNOTATE_BEGIN, (perfetto_name){0, mark, sizeof mark - 1});
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* Remembers the task for the beginning of the next time range. */
static void remember_task(perfetto *p, perfetto_task *task, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    free(task->name);
    task->name = malloc(details->text_size + 1);
    if (!task->name) {
        protobuf_fail(&p->w);
        return;
    }
    if (details->text_size > 0)
        memcpy(task->name, details->text, details->text_size);
    task->name_size = details->text_size;
    task->parent = gotrace_event_value(e);
    task->goroutine = e->goroutine;
}

static void task_begin(perfetto *p, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    uint32_t parent_track = TRACK_TASKS;
    uint16_t depth = 0;
    const perfetto_task *parent = idmap_find(&p->tasks, gotrace_event_value(e));

    /* A reader that starts late does not know a track of an earlier epoch. */
    if (parent && parent->epoch == p->epoch && parent->depth < MOST_TASK_DEPTH) {
        parent_track = parent->track;
        depth = (uint16_t)(parent->depth + 1);
    }
    /* In a sound trace the id is new. */
    perfetto_task *task = idmap_find(&p->tasks, e->subject);
    if (!task && !(task = idmap_insert(&p->tasks, e->subject))) {
        protobuf_fail(&p->w);
        return;
    }
    if (task->track) {
        slice_end(p, refer_to_track(p, task->track));
        detail_end_track(p, task->track, TRACK_SHORT_TASKS, MERGED_NONE);
    }
    task->epoch = p->epoch;
    task->depth = depth;
    track_task(p, task, parent_track, details->text, details->text_size);
    perfetto_name name = intern_name(p, details->text, details->text_size);
    protobuf_field stack = intern_stack(p, e->stack);
    p->detail.merged = MERGED_TASK;
    event_open_named(p, SLICE_BEGIN, refer_to_track(p, task->track),
                     refer_to_category(CATEGORY_TASK), 0, stack);
    event_name(p, name);
    annotate_task(p, e->subject);
    if (gotrace_event_value(e))
        event_annotate_uint(p, ANNOTATE_PARENT, gotrace_event_value(e));
    if (e->goroutine)
        event_annotate_uint(p, ANNOTATE_GOROUTINE, e->goroutine);
    event_close(p);
    if (window_follows(p))
        remember_task(p, task, e);
}

/* A task that began before the trace: a slice from the start of the trace, on a track of its own.
 */
static void unbegun_task_end(perfetto *p, const gotrace_event *e)
{
    char name[32];
    int size = snprintf(name, sizeof name, "task %llu", (unsigned long long)e->subject);
    perfetto_task task = {0};

    if (p->before_window)
        return;
    track_task(p, &task, TRACK_TASKS, name, (size_t)size);
    detail_show_track(p, task.track);
    event_open_earlier(p, p->from, SLICE_BEGIN, task.track);
    protobuf_uint(&p->w, EVENT_CATEGORY_IIDS, CATEGORY_TASK);
    event_name(p, (perfetto_name){0, name, (size_t)size});
    annotate_task(p, e->subject);
    annotate_unbegun(p);
    event_close(p);
    event_write(p, SLICE_END, refer_to_track(p, task.track), 0, 0, intern_stack(p, e->stack));
}

static void task_end(perfetto *p, const gotrace_event *e)
{
    perfetto_task *task = idmap_find(&p->tasks, e->subject);

    if (!task) {
        unbegun_task_end(p, e);
        return;
    }
    event_write(p, SLICE_END, refer_to_track(p, task->track), 0, 0, intern_stack(p, e->stack));
    detail_end_track(p, task->track, TRACK_SHORT_TASKS, MERGED_NONE);
    free(task->name);
    idmap_remove(&p->tasks, e->subject);
}

void task_event(perfetto *p, const gotrace_event *e)
{
    if (!wants(p, PART_TASKS))
        return;
    if (e->kind == GOTRACE_KIND_TASK_BEGIN)
        task_begin(p, e);
    else
        task_end(p, e);
}

void tasks_reopen(perfetto *p)
{
    size_t count = p->tasks.count;
    uint64_t *ids = sorted_ids(p, &p->tasks);

    for (size_t i = 0; ids && i < count; i++) {
        perfetto_task *task = idmap_find(&p->tasks, ids[i]);
        char *name = task->name;
        const gotrace_details details = {
            .value = task->parent, .text = name, .text_size = task->name_size};
        gotrace_event e = {.subject = ids[i],
                           .goroutine = task->goroutine,
                           .given = GOTRACE_GIVEN_DETAILS,
                           .extra.details = &details};
        *task = (perfetto_task){0};
        task_begin(p, &e);
        free(name);
    }
    free(ids);
}

void user_free(perfetto *p)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(&p->tasks, &cursor, &key, &value))
        free(((perfetto_task *)value)->name);
    cursor = 0;
    while (idmap_next(&p->goroutines, &cursor, &key, &value))
        regions_free(value);
}

void tasks_end(perfetto *p)
{
    size_t count = p->tasks.count;
    uint64_t *ids = sorted_ids(p, &p->tasks);

    for (size_t i = 0; ids && i < count; i++) {
        const perfetto_task *task = idmap_find(&p->tasks, ids[i]);
        slice_end(p, refer_to_track(p, task->track));
        detail_end_track(p, task->track, TRACK_SHORT_TASKS, MERGED_NONE);
    }
    free(ids);
}

/* ---- regions and logs ---------------------------------------------------------------------- */

/* Remembers the region for the beginning of the next time range. */
static void remember_region(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    perfetto_region *region = malloc(sizeof *region + details->text_size);

    if (!region) {
        protobuf_fail(&p->w);
        return;
    }
    region->outer = g->region;
    region->task = e->subject;
    region->size = details->text_size;
    if (details->text_size > 0)
        memcpy(region->name, details->text, details->text_size);
    g->region = region;
}

static void region_begin(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    if (++g->regions > MOST_REGIONS)
        return;
    track_user(p, g);
    perfetto_name name = intern_name(p, details->text, details->text_size);
    protobuf_field stack = intern_stack(p, e->stack);
    p->detail.merged = MERGED_REGION;
    event_open_named(p, SLICE_BEGIN, refer_to_track(p, g->user_track),
                     refer_to_category(CATEGORY_REGION), 0, stack);
    event_name(p, name);
    annotate_task(p, e->subject);
    event_close(p);
    if (window_follows(p))
        remember_region(p, g, e);
}

/* A region that began before the trace: a slice from the start of the trace, or of the goroutine,
 * on a track of its own. On the track of the other regions it could not enclose those that were
 * written before. */
static void unbegun_region_end(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    if (p->before_window || g->unbegun == UINT8_MAX)
        return;
    g->unbegun++;
    uint32_t track = track_unbegun(p, g);
    perfetto_name name = intern_name(p, details->text, details->text_size);
    event_open_earlier(p, g->created > p->from ? g->created : p->from, SLICE_BEGIN, track);
    protobuf_uint(&p->w, EVENT_CATEGORY_IIDS, CATEGORY_REGION);
    event_name(p, name);
    annotate_task(p, e->subject);
    annotate_unbegun(p);
    event_close(p);
    event_write(p, SLICE_END, refer_to_track(p, track), 0, 0, intern_stack(p, e->stack));
}

static void region_end(perfetto *p, perfetto_goroutine *g, uint64_t stack)
{
    if (g->regions-- > MOST_REGIONS)
        return;
    region_left(g);
    event_write(p, SLICE_END, refer_to_track(p, g->user_track), 0, 0, intern_stack(p, stack));
}

void region_event(perfetto *p, const gotrace_event *e)
{
    perfetto_goroutine *g = wants(p, PART_REGIONS) ? goroutine_get(p, e->goroutine, 0) : NULL;

    if (!g)
        return;
    if (e->kind == GOTRACE_KIND_REGION_BEGIN)
        region_begin(p, g, e);
    else if (g->regions > 0)
        region_end(p, g, e->stack);
    else
        unbegun_region_end(p, g, e);
}

void regions_reopen(perfetto *p, uint64_t id, perfetto_goroutine *g)
{
    perfetto_region *outermost = NULL;

    while (g->region) {
        perfetto_region *region = g->region;
        g->region = region->outer;
        region->outer = outermost;
        outermost = region;
    }
    /* Regions too deep to be shown are still counted. */
    uint32_t deeper = g->regions > MOST_REGIONS ? g->regions - MOST_REGIONS : 0;
    g->regions = 0;
    while (outermost) {
        perfetto_region *region = outermost;
        const gotrace_details details = {.text = region->name, .text_size = region->size};
        gotrace_event e = {.goroutine = id,
                           .subject = region->task,
                           .given = GOTRACE_GIVEN_DETAILS,
                           .extra.details = &details};
        outermost = region->outer;
        region_begin(p, g, &e);
        free(region);
    }
    g->regions += deeper;
}

void regions_end(perfetto *p, const perfetto_goroutine *g)
{
    uint32_t shown = g->regions < MOST_REGIONS ? g->regions : MOST_REGIONS;

    for (; shown > 0; shown--)
        event_write(p, SLICE_END, refer_to_track(p, g->user_track), 0, 0, 0);
}

void regions_free(perfetto_goroutine *g)
{
    while (region_left(g))
        continue;
}

/* "[category] message", as in Go's own viewer; to be freed by the caller. NULL if memory is
 * refused. */
static char *log_text(const gotrace_event *e, size_t *size)
{
    const gotrace_details *details = gotrace_event_details(e);
    char *text = malloc(details->text_size + details->message_size + 4);
    size_t used = 0;

    if (text && details->text_size > 0) {
        text[used++] = '[';
        memcpy(text + used, details->text, details->text_size);
        used += details->text_size;
        text[used++] = ']';
        text[used++] = ' ';
    }
    if (text && details->message_size > 0) {
        memcpy(text + used, details->message, details->message_size);
        used += details->message_size;
    }
    *size = used;
    return text;
}

void log_event(perfetto *p, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    track_process(p, e);
    if (!wants(p, PART_LOGS))
        return;
    perfetto_goroutine *g = goroutine_get(p, e->goroutine, 0);
    size_t size;
    char *text = log_text(e, &size);

    if (!g || !text) {
        free(text);
        protobuf_fail(&p->w);
        return;
    }
    track_user(p, g);
    perfetto_name category = intern_value(p, details->text, details->text_size);
    protobuf_field stack = intern_stack(p, e->stack);
    p->detail.merged = MERGED_LOG;
    event_open_named(p, INSTANT, refer_to_track(p, g->user_track), refer_to_category(CATEGORY_LOG),
                     0, stack);
    event_name(p, (perfetto_name){0, text, size});
    if (category.size > 0)
        event_annotate_string(p, ANNOTATE_LOG_CATEGORY, category);
    event_annotate_string(p, ANNOTATE_LOG_MESSAGE,
                          (perfetto_name){0, details->message, details->message_size});
    annotate_task(p, e->subject);
    event_close(p);
    free(text);
}
