/* answer.c - the questions, by name, and the functions of api.h. */
#include "formats/view/api/answer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/common/vector.h"

view_api *view_api_new_of(view_api *const *traces, size_t count, bool compared)
{
    view_api *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->traces = traces;
    a->count = count;
    a->compared = compared;
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

view_api *view_api_new(view *index, const char *file)
{
    view_api *a = view_api_new_of(NULL, 1, false);
    char *copy = a ? strdup(file) : NULL;
    if (!copy) {
        view_api_free(a);
        return NULL;
    }
    a->index = index;
    a->file = copy;
    return a;
}

void view_api_free(view_api *a)
{
    if (!a)
        return;
    for (size_t n = 0; n < PROBLEMS_SHOWN; n++)
        free(a->problems[n]);
    free(a->failure);
    free(a->file);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void view_api_set_version(view_api *a, const char *version)
{
    pthread_mutex_lock(&a->lock);
    a->version = version;
    pthread_mutex_unlock(&a->lock);
}

void view_api_set_clock(view_api *a, int64_t ns)
{
    pthread_mutex_lock(&a->lock);
    a->clock = ns;
    a->has_clock = true;
    pthread_mutex_unlock(&a->lock);
}

void view_api_set_gaps(view_api *a, const time_gap *gaps, size_t count)
{
    pthread_mutex_lock(&a->lock);
    a->gaps = gaps;
    a->gap_count = count;
    pthread_mutex_unlock(&a->lock);
}

void view_api_set_read(view_api *a, uint64_t done, uint64_t total)
{
    pthread_mutex_lock(&a->lock);
    a->read = total && done < total ? (double)done / (double)total : total > 0;
    pthread_mutex_unlock(&a->lock);
}

/* Of a message that there is no memory for, only the number is kept. */
void view_api_add_problem(view_api *a, const char *message)
{
    pthread_mutex_lock(&a->lock);
    if (a->problem_count < PROBLEMS_SHOWN)
        a->problems[a->problem_count] = strndup(message, NAME_SHOWN);
    a->problem_count++;
    pthread_mutex_unlock(&a->lock);
}

void view_api_end(view_api *a, const char *failure)
{
    pthread_mutex_lock(&a->lock);
    a->ended = true;
    a->failure = failure ? strdup(failure) : NULL;
    pthread_mutex_unlock(&a->lock);
}

void view_api_set_diagnosis(view_api *a, const diagnosis *d, const stacks *names)
{
    pthread_mutex_lock(&a->lock);
    a->diagnosis = d;
    a->diagnosis_names = names;
    pthread_mutex_unlock(&a->lock);
}

void view_api_fail_diagnosis(view_api *a, const char *why)
{
    pthread_mutex_lock(&a->lock);
    a->diagnosis_failure = why;
    pthread_mutex_unlock(&a->lock);
}

void view_api_set_diff(view_api *a, view_write_diff *write, const void *ctx)
{
    pthread_mutex_lock(&a->lock);
    a->write_diff = write;
    a->diff = ctx;
    pthread_mutex_unlock(&a->lock);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

typedef struct question {
    const char *name;
    answer_question *answer;
    const char *type;
} question;

static const char json[] = "application/json";

/* Of one trace, and of several. */
static const question questions[] =
    {
        {"trace", answer_trace, json},
        {"tracks", answer_tracks, json},
        {"window", answer_window, "application/octet-stream"},
        {"names", answer_names, json},
        {"stack", answer_stack, json},
        {"interval", answer_interval, json},
        {"path", answer_path, json},
        {"findings", answer_findings, json},
        {"search", answer_search, json},
        {"stat", answer_stat, json},
        {"flame", answer_flame, json},
        {NULL, NULL, NULL},
},
                      questions_of_several[] = {
                          {"traces", answer_traces, json},
                          {"diff", answer_diff, "application/jsonl"},
                          {NULL, NULL, NULL},
};

bool reply_keep(void *ctx, const void *bytes, size_t size)
{
    reply_bytes *to = ctx;
    view_bytes *b = &to->bytes;
    to->too_many |= size > ANSWER_MOST - b->size;
    unsigned char *list = to->too_many ? NULL : vector_fit(b->bytes, &b->room, b->size + size, 1);
    if (!list)
        return false;
    b->bytes = list;
    memcpy(list + b->size, bytes, size);
    b->size += size;
    return true;
}

static void put_error(out *o, const char *reason)
{
    out_str(o, "{\"error\":");
    out_json_string(o, reason, strlen(reason));
    out_char(o, '}');
}

/* Writes the answer, or with `reason` that instead. Returns false if memory is refused. */
static bool write_reply(answer *q, answer_question *ask, const char *reason, reply_bytes *to)
{
    out o;
    if (out_init(&o, reply_keep, to)) {
        q->out = &o;
        if (ask)
            ask(q);
        else
            put_error(&o, reason);
        out_flush(&o);
    }
    q->failed |= o.failed && !to->too_many;
    out_free(&o);
    return !q->failed;
}

static const question *find_question(const view_api *a, const char *name)
{
    const question *q = a->traces ? questions_of_several : questions;
    while (q->name && strcmp(q->name, name) != 0)
        q++;
    return q->name ? q : NULL;
}

bool view_api_answer(view_api *a, const char *name, const view_argument *list, size_t count,
                     view_reply *reply)
{
    const question *of = find_question(a, name);
    answer q = {.api = a, .status = 200};
    reply_bytes to = {0};
    const char *type = of ? of->type : json;
    arguments_init(&q.arguments, list, count);
    *reply = (view_reply){0};
    if (of)
        write_reply(&q, of->answer, NULL, &to);
    else
        answer_not_found(&q, "there is no such question");
    if (to.too_many) {
        q.status = 400;
        q.reason = ANSWER_TOO_LARGE;
    }
    if (!q.failed && q.status != 200) {
        type = json;
        to.too_many = false;
        to.bytes.size = 0;
        write_reply(&q, NULL, q.reason ? q.reason : q.arguments.message, &to);
    }
    /* No bytes at all is an answer, too. */
    if (!to.bytes.bytes)
        to.bytes.bytes = malloc(1);
    if (q.failed || !to.bytes.bytes) {
        free(to.bytes.bytes);
        return false;
    }
    *reply = (view_reply){q.status, type, (char *)to.bytes.bytes, to.bytes.size};
    return true;
}

bool answer_can(answer *q)
{
    if (!arguments_end(&q->arguments))
        q->status = 400;
    return q->status == 200;
}

void answer_not_found(answer *q, const char *reason)
{
    q->status = 404;
    q->reason = reason;
}

bool answer_read_window(answer *q, view_window *w, unsigned pixels, unsigned most)
{
    arguments *a = &q->arguments;
    arguments_time(a, "from", &w->from);
    arguments_time(a, "until", &w->until);
    if (w->until <= w->from)
        arguments_reject(a, "until", "a time after `from`, which is %" PRId64, w->from);
    const uint64_t ns = (uint64_t)w->until - (uint64_t)w->from;
    const uint64_t least = ns / most;
    w->pixel = (int64_t)(ns / pixels);
    arguments_time(a, "pixel", &w->pixel);
    if (w->pixel < 0 || (uint64_t)w->pixel < least)
        arguments_reject(a, "pixel", "at least %" PRIu64 " ns, 1 of %u parts of the window", least,
                         most);
    return answer_can(q);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

void put_text(out *o, const char *text)
{
    if (text)
        out_json_string(o, text, strlen(text));
    else
        out_str(o, "null");
}

size_t name_shown(const char *text, size_t size)
{
    if (size <= NAME_SHOWN)
        return size;
    for (size = NAME_SHOWN; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80;)
        size--;
    return size;
}

void put_name(out *o, const stacks *names, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(names, name, &size);
    const size_t shown = name_shown(text, size);
    out_char(o, '"');
    out_json_text(o, text, shown);
    out_str(o, shown < size ? "...\"" : "\"");
}

void put_frames(out *o, const stacks *names, uint32_t stack)
{
    const size_t depth = stacks_depth(names, stack);
    out_char(o, '[');
    for (size_t n = 0; n < depth && n < FRAMES_SHOWN; n++) {
        const stacks_frame *frame = stacks_frame_at(names, stack, n);
        out_str(o, n ? ",{\"function\":" : "{\"function\":");
        put_name(o, names, frame->function);
        out_str(o, ",\"file\":");
        put_name(o, names, frame->file);
        out_str(o, ",\"line\":");
        out_json_u64(o, frame->line);
        out_char(o, '}');
    }
    out_char(o, ']');
}

void put_id(out *o, uint64_t id)
{
    out_char(o, '"');
    out_u64(o, id);
    out_char(o, '"');
}

void put_label(out *o, const view *v, uint64_t id)
{
    const uint32_t label = view_label(v, id);
    if (!label)
        return;
    out_str(o, ",\"label\":");
    put_name(o, view_names(v), label);
}

uint32_t track_name(const stacks *names, const view_track *t)
{
    const bool of_id = t->kind == VIEW_GROUP || t->kind == VIEW_TASKS;
    const uint64_t name = of_id ? t->id : t->group;
    return names_have(names, name) ? (uint32_t)name : 0;
}

void put_track_name(out *o, const stacks *names, const view_track *t)
{
    const char *text = NULL;
    if (t->kind == VIEW_RANGE && t->id < GOTRACE_RANGES)
        text = gotrace_range_name((gotrace_range)t->id);
    if (t->kind == VIEW_METRIC && t->id < GOTRACE_METRICS)
        text = gotrace_metric_name((gotrace_metric)t->id);
    if (text)
        out_json_string(o, text, strlen(text));
    else
        put_name(o, names, track_name(names, t));
}
