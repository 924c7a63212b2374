/*
 * annotate.c - what the program says about itself: tasks, regions, messages and labels.
 * Source: Go 1.19, runtime/trace.go, trace_userTaskCreate and following.
 */
#include "record/event.h"

static uint64_t text_id(gotrace_rec_thread *t, const char *text)
{
    return text ? gt_rec_string(t, text, strlen(text)) : 0;
}

void gotrace_rec_task_create(gotrace_rec_thread *t, uint64_t task, uint64_t parent,
                             const char *type, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_task_create))
        return;
    if (gt_rec_event_begin(t) &&
        gt_rec_can_put(t, GOTRACE_V1_UserTaskCreate, GOTRACE_V2_UserTaskBegin)) {
        const uint64_t args[4] = {task, parent, text_id(t, type), gt_rec_stack(t, pcs, depth)};
        gt_rec_event(t, GOTRACE_V1_UserTaskCreate, GOTRACE_V2_UserTaskBegin, args, 4);
    }
    gt_rec_event_end(t);
}

void gotrace_rec_task_end(gotrace_rec_thread *t, uint64_t task, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_task_end))
        return;
    if (gt_rec_event_begin(t)) {
        const uint64_t args[2] = {task, gt_rec_stack(t, pcs, depth)};
        gt_rec_event(t, GOTRACE_V1_UserTaskEnd, GOTRACE_V2_UserTaskEnd, args, 2);
    }
    gt_rec_event_end(t);
}

void gotrace_rec_region(gotrace_rec_thread *t, uint64_t task, gotrace_rec_edge edge,
                        const char *type, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse_of(t, GT_REC_CALL_region, NULL, edge))
        return;
    unsigned v2 = edge == GOTRACE_REC_BEGIN ? GOTRACE_V2_UserRegionBegin : GOTRACE_V2_UserRegionEnd;
    if (gt_rec_event_begin(t) && gt_rec_can_put(t, GOTRACE_V1_UserRegion, v2)) {
        const uint64_t name = text_id(t, type), stack = gt_rec_stack(t, pcs, depth);
        if (t->recorder->v2)
            gt_rec_put(t, v2, (const uint64_t[]){task, name, stack}, 3);
        else
            gt_rec_put(t, GOTRACE_V1_UserRegion, (const uint64_t[]){task, edge, name, stack}, 4);
    }
    gt_rec_event_end(t);
}

static void put_log_v1(gotrace_rec_thread *t, const uint64_t args[3], const char *message)
{
    gt_rec_place w = gt_rec_place_of(t, t->proc);
    size_t size = strlen(message);
    if (size > GT_REC_MESSAGE_MAX)
        size = GT_REC_MESSAGE_MAX;
    gt_rec_put_record(&w, GOTRACE_V1_UserLog, args, 3, message, size);
}

void gotrace_rec_log(gotrace_rec_thread *t, uint64_t task, const char *category,
                     const char *message, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_log))
        return;
    if (gt_rec_event_begin(t) && gt_rec_can_put(t, GOTRACE_V1_UserLog, GOTRACE_V2_UserLog)) {
        const uint64_t key = text_id(t, category), stack = gt_rec_stack(t, pcs, depth);
        if (t->recorder->v2)
            gt_rec_put(t, GOTRACE_V2_UserLog,
                       (const uint64_t[]){task, key, text_id(t, message), stack}, 4);
        else
            put_log_v1(t, (const uint64_t[]){task, key, stack}, message ? message : "");
    }
    gt_rec_event_end(t);
}

void gotrace_rec_go_label(gotrace_rec_thread *t, const char *label)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_go_label))
        return;
    if (gt_rec_event_begin(t) && gt_rec_can_put(t, 0, GOTRACE_V2_GoLabel)) {
        const uint64_t text = text_id(t, label);
        gt_rec_put(t, GOTRACE_V2_GoLabel, &text, 1);
    }
    gt_rec_event_end(t);
}
