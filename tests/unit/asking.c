/* asking.c - see asking.h. */
#include "asking.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/vector.h"
#include "formats/view/index.h"
#include "formats/view/levels.h"

asked ask_of(const blob *content, size_t items)
{
    asked a = {.view = view_new()};
    gotrace_source *source;
    gotrace_reader *reader;
    ck_assert_ptr_nonnull(a.view);
    a.view->levels.most_items = items;
    a.api = view_api_new(a.view, "a \"trace\"\xff");
    ck_assert_ptr_nonnull(a.api);
    ck_assert_int_eq(gotrace_source_memory(content->bytes, content->size, NULL, &source, NULL),
                     GOTRACE_OK);
    if (gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK) {
        view_build(a.view, reader, 1);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    return a;
}

void asked_free(asked *a)
{
    view_api_free(a->api);
    view_free(a->view);
}

asked ask_of_sample(const char *name)
{
    blob content = trace_sample(name);
    asked a = ask_of(&content, 200);
    blob_free(&content);
    return a;
}

view_reply ask(const asked *a, const char *question)
{
    view_argument list[VIEW_ARGUMENTS_MOST + 2];
    size_t count = 0;
    view_reply reply;
    char *text = strdup(question), *rest, *word;
    ck_assert_ptr_nonnull(text);
    const char *name = strtok_r(text, " ", &rest);
    while ((word = strtok_r(NULL, " ", &rest))) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = 0;
        list[count++] = (view_argument){word, value};
    }
    ck_assert(view_api_answer(a->api, name, list, count, &reply));
    free(text);
    return reply;
}

json_t *ask_json(const asked *a, unsigned status, const char *question)
{
    view_reply reply = ask(a, question);
    json_error_t error;
    ck_assert_msg(reply.status == status, "%s: status %u: %.*s", question, reply.status,
                  (int)reply.size, reply.bytes);
    ck_assert_str_eq(reply.type, "application/json");
    json_t *made = json_loadb(reply.bytes, reply.size, 0, &error);
    ck_assert_msg(made, "%s: %s: %.*s", question, error.text, (int)reply.size, reply.bytes);
    free(reply.bytes);
    return made;
}

json_t *ask_printf(const asked *a, unsigned status, const char *question, ...)
{
    char text[256];
    va_list values;
    va_start(values, question);
    vsnprintf(text, sizeof text, question, values);
    va_end(values);
    return ask_json(a, status, text);
}

long long member(const json_t *of, const char *name)
{
    const json_t *value = json_object_get(of, name);
    ck_assert_msg(json_is_integer(value), "%s", name);
    return json_integer_value(value);
}

const char *text_of(const json_t *of, const char *name)
{
    const json_t *value = json_object_get(of, name);
    ck_assert_msg(json_is_string(value), "%s", name);
    return json_string_value(value);
}

uint64_t id_of(const json_t *of)
{
    return strtoull(text_of(of, "id"), NULL, 10);
}

bool keep_track(void *ctx, const view_listed *t)
{
    listed *l = ctx;
    l->list = vector_room(l->list, &l->room, l->count, sizeof *l->list);
    ck_assert_ptr_nonnull(l->list);
    const view_track *last = l->count > 0 ? &l->list[l->count - 1].track : NULL;
    ck_assert(!last || last->kind != t->track.kind || last->id < t->track.id);
    l->list[l->count++] = *t;
    return true;
}
