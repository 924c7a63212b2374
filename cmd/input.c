#include "cmd/input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/progress.h"
#include "cmd/trace_limits.h"
#include "formats/common/vector.h"
#include "gotrace_experimental.h"

/* Whether data is lost because of this problem, so that a recovery can provide more: bytes do not
 * make sense, or the trace ends early. */
static bool loses_data(const gotrace_error *problem)
{
    switch (problem->class_) {
    case GOTRACE_CLASS_MALFORMED:
        return problem->severity >= GOTRACE_PROBLEM && problem->rule != GOTRACE_RULE_HEADER_SHORT &&
               problem->rule != GOTRACE_RULE_SYSTEM_ZSTD &&
               problem->rule != GOTRACE_RULE_SYSTEM_GZIP &&
               problem->rule != GOTRACE_RULE_TRACE_AFTER;
    case GOTRACE_CLASS_UNFINISHED: return problem->severity >= GOTRACE_PROBLEM;
    default: return false;
    }
}

/* Returns false if reading is to end, because there are too many problems. */
static bool collect(input *in, const gotrace_error *problem)
{
    enum { MOST = 1000 };
    gotrace_error *larger = in->collected_count < MOST
                                ? vector_room(in->collected, &in->collected_room,
                                              in->collected_count, sizeof *larger)
                                : NULL;
    if (!larger)
        return false;
    in->collected = larger;
    in->collected[in->collected_count++] = *problem;
    return true;
}

/* May be called in the thread that reads. */
static bool on_problem(void *ctx, const gotrace_error *problem)
{
    input *in = ctx;
    gotrace_error reported = *problem;
    out *before = diag_capture(in->messages);
    in->loses = in->loses || loses_data(problem);
    if (in->collects) {
        diag_capture(before);
        return collect(in, problem);
    }
    /* Offsets in the recovered trace are not offsets in the file. */
    if (in->damaged)
        reported.offset = reported.batch = reported.event = GOTRACE_NO_OFFSET;
    findings_add(&in->found, &reported);
    diag_capture(before);
    return true;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    progress_update(done, total);
}

const char *input_path(const session *s)
{
    return s->file_count > 0 ? s->files[0] : NULL;
}

static bool fail(input *in, const gotrace_error *error)
{
    in->loses = in->loses || loses_data(error);
    findings_add(&in->found, error);
    return false;
}

bool input_open(input *in, session *s, const char *path)
{
    bool standard = !path || strcmp(path, "-") == 0;
    *in = (input){.name = standard ? "<stdin>" : path, .messages = diag_captured()};
    in->found = (findings){.file = in->name,
                           .json = s->report,
                           .kept_only = s->set->output && s->report == &s->output.out,
                           .limit = s->max_errors,
                           .explain = s->explain,
                           .verbose = s->set->verbose};
    limits_config(s, &in->config);
    in->config.on_problem = on_problem;
    in->config.on_progress = on_progress;
    in->config.callback_ctx = in;
    in->config.every_problem = s->set->verbose;
    in->begun = human_clock();
    progress_begin(in->name);
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    gotrace_status status;
    if (standard)
        status = gotrace_source_fd(STDIN_FILENO, &in->config, &in->source, &error);
    else
        status = gotrace_source_open(path, &in->config, &in->source, &error);
    return status >= 0 || fail(in, &error);
}

bool input_open_reader(input *in, session *s, const char *path)
{
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    if (!input_open(in, s, path))
        return false;
    return gotrace_reader_open(in->source, &in->config, &in->reader, &error) >= 0 ||
           fail(in, &error);
}

void input_end_collecting(input *in, bool add)
{
    in->collects = false;
    for (size_t i = 0; add && i < in->collected_count; i++)
        on_problem(in, &in->collected[i]);
    free(in->collected);
    in->collected = NULL;
    in->collected_count = in->collected_room = 0;
}

static void note_speed(const input *in)
{
    char bytes[24], rate[24];
    uint64_t size = gotrace_source_size(input_file(in));
    double seconds = human_clock() - in->begun;
    human_bytes(bytes, sizeof bytes, size);
    human_bytes(rate, sizeof rate, (uint64_t)((double)size / seconds));
    diag_problem_note(in->name, GOTRACE_NO_OFFSET, "%s in %.3f s, %s/s", bytes, seconds, rate);
}

gotrace_reader *input_read_again(const input *in)
{
    gotrace_config config = in->config;
    gotrace_reader *reader = NULL;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    config.on_problem = NULL;
    if (gotrace_reader_open(in->source, &config, &reader, &error) < 0)
        diag_error("cannot read the trace again: %s", error.message);
    return reader;
}

bool input_end_again(input *in, gotrace_reader *reader)
{
    const gotrace_error *ended = gotrace_reader_error(reader);
    /* The first reader reaches a limit too. */
    bool failed = ended->class_ == GOTRACE_CLASS_SYSTEM && ended->rule != GOTRACE_RULE_SYSTEM_LIMIT;
    if (failed)
        findings_add(&in->found, ended);
    gotrace_reader_close(reader);
    return !failed;
}

gotrace_config input_quiet(const input *in)
{
    gotrace_config config = in->config;
    config.on_problem = NULL;
    config.on_progress = NULL;
    return config;
}

int input_report(input *in)
{
    progress_end();
    if (in->found.verbose && in->source)
        note_speed(in);
    findings_end(&in->found);
    return findings_status(&in->found);
}

void input_free(input *in)
{
    free(in->gaps);
    gotrace_reader_close(in->reader);
    gotrace_source_close(in->source);
    if (in->damaged) {
        gotrace_source_close(in->damaged);
        close(in->recovered);
    }
}

int input_close(input *in)
{
    const int status = input_report(in);
    input_free(in);
    return status;
}
