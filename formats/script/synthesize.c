/* synthesize.c - the script encodings, and reading a script in any of them. */
#include <stdlib.h>
#include <string.h>

#include "formats/script/meaning.h"

enum {
    FRAMES_DEFAULT = 1000,
    STRING_DEFAULT = 1000000,
};

#define MEMORY_DEFAULT ((uint64_t)1 << 30)

const script_format *const script_formats[] = {&script_text, &script_json, &script_jsonl,
                                               &script_cbor, NULL};

const script_format *script_by_name(const char *name)
{
    for (size_t i = 0; script_formats[i]; i++)
        if (strcmp(script_formats[i]->name, name) == 0)
            return script_formats[i];
    return NULL;
}

static void *resize_with_malloc(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

static gotrace_status begin(script_job *job)
{
    gotrace_limits limits = job->config && job->config->limits ? *job->config->limits
                                                               : (gotrace_limits){0};
    if (job->config)
        job->allocator = job->config->allocator;
    if (!job->allocator.resize)
        job->allocator.resize = resize_with_malloc;
    job->memory_limit = limits.memory ? limits.memory : MEMORY_DEFAULT;
    job->frame_limit = limits.frames ? limits.frames : FRAMES_DEFAULT;
    if (job->frame_limit > UINT32_MAX)
        job->frame_limit = UINT32_MAX;
    job->string_limit = limits.string_bytes ? limits.string_bytes : STRING_DEFAULT;
    job->data_limit = job->string_limit;
    job->in.line = job->in.column = 1;
    void *values = NULL;
    gotrace_status status = script_grow(job, &values, &job->record.value_capacity, GOTRACE_MAX_ARGS,
                                        sizeof *job->record.values);
    job->record.values = values;
    return status;
}

/* Whether a script that begins with this byte is CBOR. No text begins with it, nor with the byte
 * order mark. */
static bool begins_cbor(char first)
{
    return (unsigned char)first >= 0x80 && (unsigned char)first < 0xe0;
}

/* JSON starts with a brace, CBOR with an array, map or tag. Everything else is read as text, which
 * gives the clearest errors. */
static gotrace_status read_script(script_job *job)
{
    static const char mark[] = "\xef\xbb\xbf";
    script_input *in = &job->in;
    size_t at = 0;
    for (;;) {
        if (at == 0 && in->end - in->at >= 3 && memcmp(in->buffer + in->at, mark, 3) == 0)
            in->at += 3;
        while (at < in->end - in->at && strchr(" \t\r\n", in->buffer[in->at + at]))
            at++;
        if (at < in->end - in->at)
            break;
        gotrace_status status = at < SCRIPT_TEXT_MAX ? script_fill(job) : GOTRACE_END;
        if (status == GOTRACE_END)
            return script_fail(job, in->line,
                               "the script is empty: it has to begin with \"Trace Go1.N\"");
        if (status != GOTRACE_OK)
            return status;
    }
    if (in->before + in->at + at == 0 && begins_cbor(in->buffer[0]))
        return script_cbor_read(job);
    return in->buffer[in->at + at] == '{' ? script_json_read(job) : script_text_read(job);
}

static gotrace_status finish(script_job *job)
{
    if (job->errors > 0)
        return GOTRACE_OK;
    if (job->by_meaning)
        return script_meaning_finish(job);
    if (gotrace_encoder_finish(job->encoder) == GOTRACE_OK)
        return GOTRACE_OK;
    return script_fail_as(job, job->in.line, gotrace_encoder_error(job->encoder));
}

static void free_job(script_job *job)
{
    gotrace_encoder_free(job->encoder);
    script_meaning_free(job);
    script_release(job, job->in.buffer, job->in.capacity, 1);
    script_release(job, job->record.values, job->record.value_capacity, sizeof *job->record.values);
    script_release(job, job->record.data, job->record.data_capacity, 1);
    script_release(job, job->record.pads, job->record.pad_capacity, sizeof *job->record.pads);
    script_release(job, job->widths, job->width_capacity, 1);
    free(job);
}

gotrace_status script_synthesize(FILE *input, gotrace_write_fn write, void *ctx,
                                 const gotrace_config *config, const script_options *options,
                                 script_error *error)
{
    script_job *job = calloc(1, sizeof *job);
    if (!job) {
        script_job none = {.version = 0};
        script_error_of(&none, GOTRACE_RULE_SYSTEM_MEMORY, 0);
        if (error)
            *error = none.error;
        return GOTRACE_ERROR;
    }
    job->in.file = input;
    job->config = config;
    job->write = write;
    job->ctx = ctx;
    if (options)
        job->options = *options;
    script_error_of(job, GOTRACE_RULE_NONE, 0);
    gotrace_status status = begin(job);
    if (status == GOTRACE_OK)
        status = read_script(job);
    if (status == GOTRACE_OK)
        status = finish(job);
    bool system = status < 0 && job->error.error.class_ == GOTRACE_CLASS_SYSTEM;
    if (status < 0 && !job->reported)
        script_finish_error(job);
    if (error)
        *error = job->errors > 0 && !system ? job->first_error : job->error;
    status = job->errors > 0 ? GOTRACE_ERROR : GOTRACE_OK;
    free_job(job);
    return status;
}
