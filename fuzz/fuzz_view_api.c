/*
 * fuzz_view_api.c - any question of an index, as in a URL: "window?from=0&until=9&tracks=0:1". It
 * is answered, with valid JSON or with stretches as they are in the index; one that needs a job
 * again after it.
 */
#include <jansson.h>
#include <stdlib.h>

#include "common.h"
#include "formats/common/numbers.h"
#include "formats/view/api/jobs.h"
#include "formats/view/stretches.h"

static view_jobs *jobs;
static const char sample[] = "testdata/traces/go1.21-http.trace";

/* The index of the sample, which is made once. */
static view_api *make_api(void)
{
    gotrace_source *source;
    gotrace_reader *reader;
    view *v = view_new();
    view_api *a = v ? view_api_new(v, sample) : NULL;
    REQUIRE(a != NULL);
    REQUIRE(gotrace_source_open(sample, NULL, &source, NULL) == GOTRACE_OK);
    REQUIRE(gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK);
    view_build(v, reader, 1);
    gotrace_reader_close(reader);
    static const gotrace_config config = GOTRACE_INIT(gotrace_config);
    jobs = view_jobs_new();
    REQUIRE(jobs != NULL);
    view_api_set_jobs(a, jobs, source, &config, 1);
    return a;
}

/* Divides the text at the first of those characters. Returns what follows; NULL: nothing. */
static char *divide(char *text, char at)
{
    char *found = text ? strchr(text, at) : NULL;
    if (found)
        *found++ = 0;
    return found;
}

/* Each track has its size, and stretches fill it. */
static void check_window(const view_reply *reply)
{
    const unsigned char *at = (const unsigned char *)reply->bytes, *const end = at + reply->size;
    while (at < end) {
        view_stretch s;
        int64_t time = 0;
        const uint64_t size = unpack_number(&at);
        REQUIRE(size <= (uint64_t)(end - at));
        const unsigned char *const last = at + size;
        while (stretch_get(&at, last, &time, &s))
            REQUIRE(s.state < DO_KINDS && at <= last);
    }
}

static void check_json(const view_reply *reply)
{
    json_error_t error;
    json_t *made = json_loadb(reply->bytes, reply->size, 0, &error);
    REQUIRE(made != NULL);
    REQUIRE(reply->status == 200 || json_is_string(json_object_get(made, "error")));
    json_decref(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static view_api *api;
    view_argument list[2 * VIEW_ARGUMENTS_MOST];
    size_t count = 0;
    view_reply reply;
    if (!api)
        api = make_api();
    char *text = strndup((const char *)data, size);
    REQUIRE(text != NULL);
    for (char *next = divide(text, '?'); next && count < sizeof list / sizeof *list;) {
        char *const name = next;
        next = divide(name, '&');
        list[count++] = (view_argument){name, divide(name, '=')};
    }
    REQUIRE(view_api_answer(api, text, list, count, &reply));
    if (view_jobs_do(jobs, false)) {
        check_json(&reply);
        free(reply.bytes);
        REQUIRE(view_api_answer(api, text, list, count, &reply));
        REQUIRE(!view_jobs_do(jobs, false));
    }
    REQUIRE(reply.status == 200 || reply.status == 400 || reply.status == 404);
    if (strcmp(reply.type, "application/json") == 0)
        check_json(&reply);
    else
        check_window(&reply);
    free(reply.bytes);
    free(text);
    return 0;
}
