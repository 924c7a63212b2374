/*
 * user.c - user annotations: tasks, regions and logs.
 *
 * A task has a row of its own. Regions are asynchronous events, because a region may continue while
 * its goroutine runs on another row or not at all; they are on the row where they began.
 */
#include "formats/chrome/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

struct chrome_region {
    chrome_region *around;
    uint64_t id, task, row;
    uint64_t name; /* key in names */
};

/* A region's name, kept while a region with that name is open. */
typedef struct region_name {
    char *bytes;
    size_t size;
    uint64_t regions;
} region_name;

void chrome_user_init(chrome_user *u, chrome_timeline *t)
{
    *u = (chrome_user){.timeline = t, .seed = gt_hash_seed()};
    idmap_init(&u->tasks, sizeof(uint64_t));
    idmap_init(&u->names, sizeof(region_name));
}

void chrome_user_free(chrome_user *u)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(&u->names, &cursor, &key, &value))
        free(((region_name *)value)->bytes);
    idmap_free(&u->names);
    idmap_free(&u->tasks);
}

static void refuse(chrome_user *u)
{
    u->timeline->error = ENOMEM;
}

/* ---- tasks --------------------------------------------------------------------------------- */

static void end_task(chrome_user *u, uint64_t position, uint64_t stack, uint64_t goroutine)
{
    uint64_t end[] = {(uint64_t)u->timeline->now, stack};

    chrome_update(u->timeline, position, CHROME_OPEN, CHROME_B, &goroutine, 1);
    chrome_update(u->timeline, position, CHROME_DONE, CHROME_END, end, 2);
}

/* Begins a task's slice on its own row. */
static void begin_task(chrome_user *u, uint64_t task, uint64_t goroutine, uint64_t stack,
                       const char *name, size_t size, bool unbegun)
{
    chrome_timeline *t = u->timeline;
    uint64_t place = u->rows++;
    uint64_t row[] = {task, place, 0, CHROME_PID_TASKS};
    uint64_t values[CHROME_VALUES] = {[CHROME_TID] = task,
                                      [CHROME_STACK] = stack,
                                      [CHROME_SUBJECT] = task,
                                      [CHROME_START] = unbegun,
                                      [CHROME_A] = goroutine};

    if (place == 0) {
        static const char title[] = "TASKS";
        uint64_t section[] = {0, 1, 0, CHROME_PID_TASKS};
        chrome_push(t, CHROME_SECTION, CHROME_NAME_TEXT, CHROME_DONE, section, 4, title,
                    sizeof title - 1);
    }
    chrome_push(t, CHROME_ROW, CHROME_NAME_TEXT, CHROME_DONE, row, 4, name, size);
    uint64_t position = chrome_push(t, CHROME_TASK, CHROME_NAME_TEXT, CHROME_OPEN, values,
                                    CHROME_VALUES, name, size);
    uint64_t *going_on = idmap_insert(&u->tasks, task);
    if (going_on)
        *going_on = position;
    else
        refuse(u);
}

static void task_began(chrome_user *u, uint64_t row, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    chrome_timeline *t = u->timeline;
    const uint64_t *twice = idmap_find(&u->tasks, event->subject);

    if (twice)
        end_task(u, *twice, 0, 0);
    chrome_instant(t, row, CHROME_NAME_TASK_START, event->stack, NULL, 0);
    bool has_parent = gotrace_event_value(event) != 0 &&
                      gotrace_event_value(event) != event->subject &&
                      idmap_find(&u->tasks, gotrace_event_value(event)) != NULL;
    uint64_t values[] = {gotrace_event_value(event), event->stack, 0, CHROME_PID_TASKS};
    if (has_parent) {
        values[CHROME_ID] = ++t->flows;
        chrome_push(t, CHROME_FLOW_START, CHROME_NAME_NEW_TASK, CHROME_DONE, values, 4, NULL, 0);
    }
    begin_task(u, event->subject, event->goroutine, event->stack, details->text, details->text_size,
               false);
    if (has_parent) {
        values[CHROME_TID] = event->subject;
        values[CHROME_STACK] = 0;
        chrome_push(t, CHROME_FLOW_END, CHROME_NAME_NEW_TASK, CHROME_DONE, values, 4, NULL, 0);
    }
}

static void task_ended(chrome_user *u, uint64_t row, const gotrace_event *event)
{
    bool begun = !(event->flags & GOTRACE_EVENT_NO_BEGIN);
    /* The first event of a task from before the trace. Earlier records may be written already. */
    if (begun && !idmap_find(&u->tasks, event->subject)) {
        chrome_backdate(u->timeline);
        begin_task(u, event->subject, 0, 0, NULL, 0, true);
        chrome_backdate_end(u->timeline);
    }
    const uint64_t *position = idmap_find(&u->tasks, event->subject);
    if (begun && position)
        end_task(u, *position, event->stack, event->goroutine);
    if (begun)
        idmap_remove(&u->tasks, event->subject);
    chrome_instant(u->timeline, row, CHROME_NAME_TASK_END, event->stack, NULL, 0);
}

/* ---- regions ------------------------------------------------------------------------------- */

static const char unnamed[] = "region";

/* Adds a reference to a name, for one more region; false if memory is refused. */
static bool keep_name(chrome_user *u, const char *bytes, size_t size, uint64_t *key)
{
    uint64_t hash = gt_hash_bytes(u->seed, bytes, size);
    region_name *name;

    while ((name = idmap_find(&u->names, hash)) != NULL &&
           (name->size != size || memcmp(name->bytes, bytes, size) != 0))
        hash++;
    if (!name) {
        char *copy = malloc(size);
        name = copy ? idmap_insert(&u->names, hash) : NULL;
        if (!name) {
            free(copy);
            refuse(u);
            return false;
        }
        memcpy(copy, bytes, size);
        name->bytes = copy;
        name->size = size;
    }
    name->regions++;
    *key = hash;
    return true;
}

static void region_began(chrome_user *u, chrome_region **regions, uint64_t row,
                         const gotrace_event *event, bool unbegun)
{
    const gotrace_details *details = gotrace_event_details(event);
    bool named = details->text_size > 0;
    const char *text = named ? details->text : unnamed;
    size_t size = named ? details->text_size : sizeof unnamed - 1;
    chrome_region *region = malloc(sizeof *region);

    if (!region || !keep_name(u, text, size, &region->name)) {
        free(region);
        refuse(u);
        return;
    }
    region->id = ++u->regions;
    region->task = event->subject;
    region->row = row;
    region->around = *regions;
    *regions = region;
    uint64_t values[] = {row, unbegun ? 0 : event->stack, region->id, region->task, unbegun};
    size_t count = unbegun ? CHROME_REGION_UNBEGUN + 1 : CHROME_REGION_UNBEGUN;
    chrome_push(u->timeline, CHROME_REGION_BEGIN, CHROME_NAME_TEXT, CHROME_DONE, values, count,
                text, size);
}

/* A region from before the trace, whose end is its first event, begins with it, as in Go's
 * cmd/trace. */
static void region_was_active(chrome_user *u, chrome_region **regions, uint64_t row,
                              const gotrace_event *end)
{
    chrome_backdate(u->timeline);
    region_began(u, regions, row, end, true);
    chrome_backdate_end(u->timeline);
}

/* Ends the innermost region. */
static void end_region(chrome_user *u, chrome_region **regions, uint64_t stack)
{
    chrome_region *region = *regions;
    region_name *name = idmap_find(&u->names, region->name);
    uint64_t values[] = {region->row, stack, region->id, region->task};

    chrome_push(u->timeline, CHROME_REGION_END, CHROME_NAME_TEXT, CHROME_DONE, values, 4,
                name->bytes, name->size);
    if (--name->regions == 0) {
        free(name->bytes);
        idmap_remove(&u->names, region->name);
    }
    *regions = region->around;
    free(region);
}

void chrome_end_regions(chrome_user *u, chrome_region **regions)
{
    while (*regions)
        end_region(u, regions, 0);
}

/* ---- logs ---------------------------------------------------------------------------------- */

static void logged(chrome_user *u, uint64_t row, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    const char *message = details->message ? details->message : "";

    if (details->text_size == 0) {
        chrome_instant(u->timeline, row, CHROME_NAME_TEXT, event->stack, message,
                       details->message_size);
        return;
    }
    size_t size = details->text_size + details->message_size + 3;
    char *text = malloc(size);
    if (!text) {
        refuse(u);
        return;
    }
    text[0] = '[';
    memcpy(text + 1, details->text, details->text_size);
    memcpy(text + 1 + details->text_size, "] ", 2);
    memcpy(text + 3 + details->text_size, message, details->message_size);
    chrome_instant(u->timeline, row, CHROME_NAME_TEXT, event->stack, text, size);
    free(text);
}

void chrome_user_event(chrome_user *u, chrome_region **regions, uint64_t row,
                       const gotrace_event *event)
{
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_TASK_BEGIN: task_began(u, row, event); break;
    case GOTRACE_KIND_TASK_END: task_ended(u, row, event); break;
    case GOTRACE_KIND_REGION_BEGIN: region_began(u, regions, row, event, false); break;
    case GOTRACE_KIND_REGION_END:
        if (event->flags & GOTRACE_EVENT_NO_BEGIN)
            break;
        if (!*regions)
            region_was_active(u, regions, row, event);
        if (*regions)
            end_region(u, regions, event->stack);
        break;
    case GOTRACE_KIND_LOG: logged(u, row, event); break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
}
