/* script.c - the list of script encodings, and conversion of script records to records of a
 * trace. */
#include "formats/common/plural.h"
#include "formats/script/meaning.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_SIZE = 256 * 1024,
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

/* ---- memory --------------------------------------------------------------------------------- */

static void *resize_with_malloc(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

gotrace_status script_grow(script_job *job, void **array, size_t *capacity, size_t need,
                           size_t element)
{
    if (need <= *capacity)
        return GOTRACE_OK;
    size_t wanted = *capacity < 64 ? 64 : 2 * *capacity;
    if (wanted < need)
        wanted = need;
    uint64_t more = (uint64_t)(wanted - *capacity) * element;
    if (more > job->memory_limit - job->memory_used)
        return script_fail_system(job, GOTRACE_RULE_SYSTEM_LIMIT,
                                  "more than %llu bytes of memory are needed, the limit",
                                  (unsigned long long)job->memory_limit);
    void *moved = job->allocator.resize(job->allocator.ctx, *array, *capacity * element,
                                        wanted * element);
    if (!moved)
        return script_fail_system(job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
    job->memory_used += more;
    *array = moved;
    *capacity = wanted;
    return GOTRACE_OK;
}

void script_release(script_job *job, void *array, size_t capacity, size_t element)
{
    if (array)
        job->allocator.resize(job->allocator.ctx, array, capacity * element, 0);
}

/* ---- output -------------------------------------------------------------------------------- */

bool script_write(void *ctx, const void *bytes, size_t size)
{
    script_job *job = ctx;
    return job->errors > 0 || job->write(job->ctx, bytes, size);
}

/* ---- input --------------------------------------------------------------------------------- */

static gotrace_status fail_read(script_job *job)
{
    int os_error = errno;
    script_fail_system(job, GOTRACE_RULE_SYSTEM_READ, "the script cannot be read: %s",
                       strerror(os_error));
    job->error.error.os_error = os_error;
    return GOTRACE_ERROR;
}

gotrace_status script_fill(script_job *job)
{
    script_input *in = &job->in;
    if (in->ended)
        return GOTRACE_END;
    size_t done = in->marked ? in->mark : in->at;
    if (done > 0) {
        memmove(in->buffer, in->buffer + done, in->end - done);
        in->end -= done;
        in->before += done;
        in->at -= done;
        in->mark = 0;
    }
    size_t held = in->end;
    void *buffer = in->buffer;
    size_t need = held + READ_SIZE > in->capacity ? held + READ_SIZE / 2 : 0;
    gotrace_status status = script_grow(job, &buffer, &in->capacity, need, 1);
    in->buffer = buffer;
    if (status != GOTRACE_OK)
        return status;
    errno = 0;
    in->end += fread(in->buffer + held, 1, in->capacity - held, in->file);
    if (in->end > held)
        return GOTRACE_OK;
    in->ended = true;
    return ferror(in->file) ? fail_read(job) : GOTRACE_END;
}

gotrace_status script_seek(script_job *job, uint64_t offset)
{
    script_input *in = &job->in;
    errno = 0;
    if (fseeko(in->file, (off_t)offset, SEEK_SET) != 0)
        return fail_read(job);
    in->at = in->end = 0;
    in->before = offset;
    in->ended = false;
    return GOTRACE_OK;
}

gotrace_status script_line(script_job *job, char **line, size_t *size, uint64_t *number)
{
    script_input *in = &job->in;
    size_t searched = 0;
    char *end = NULL;
    for (;;) {
        size_t held = in->end - in->at;
        if (held > searched)
            end = memchr(in->buffer + in->at + searched, '\n', held - searched);
        searched = held;
        if (end)
            break;
        if (held > SCRIPT_TEXT_MAX)
            return script_fail(job, in->line, "a line of more than %zu bytes", SCRIPT_TEXT_MAX);
        gotrace_status status = script_fill(job);
        if (status == GOTRACE_END && held > 0)
            break;
        if (status != GOTRACE_OK)
            return status;
    }
    *line = in->buffer + in->at;
    *size = end ? (size_t)(end - *line) : in->end - in->at;
    *number = in->line++;
    in->at += *size + (end != NULL);
    if (*size > 0 && (*line)[*size - 1] == '\r')
        --*size;
    return GOTRACE_EVENT;
}

gotrace_status script_number(script_job *job, uint64_t line, const char *s, size_t size,
                             uint64_t *value)
{
    unsigned base = size > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
    size_t i = base == 16 ? 2 : 0;
    uint64_t v = 0;
    for (; i < size; i++) {
        unsigned digit = script_digit(s[i]);
        if (digit >= base)
            break;
        if (v > (UINT64_MAX - digit) / base)
            return script_fail(job, line, "%s does not fit 64 bits", script_show(s, size).text);
        v = v * base + digit;
    }
    if (i < size || size == 0)
        return script_fail(job, line,
                           "\"%s\" found, a whole number from 0 to 18446744073709551615 expected",
                           script_show(s, size).text);
    *value = v;
    return GOTRACE_OK;
}

/* ---- names --------------------------------------------------------------------------------- */

static bool is_name(const char *name, const char *s, size_t size)
{
    return strlen(name) == size && memcmp(name, s, size) == 0;
}

static unsigned name_hash(const char *name, size_t size)
{
    unsigned hash = (unsigned)size;
    for (size_t i = 0; i < size; i++)
        hash = hash * 31 + (unsigned char)name[i];
    return hash % 256;
}

static void make_shapes(script_job *job)
{
    for (unsigned code = 0; code < SCRIPT_CODES; code++) {
        script_shape *shape = &job->shapes[code];
        shape->spec = gotrace_event_spec_of(job->version, code);
        if (!shape->spec)
            continue;
        shape->arg_count = gotrace_event_args(shape->spec, job->version, shape->args);
        unsigned slot = name_hash(shape->spec->name, strlen(shape->spec->name));
        while (job->names[slot])
            slot = (slot + 1) % 256;
        job->names[slot] = shape;
    }
}

static gotrace_status fail_version(script_job *job, uint64_t line, uint64_t found)
{
    char known[128] = "";
    size_t count, used = 0;
    const int *versions = gotrace_versions(&count);
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s1.%d",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 versions[i]);
    return script_fail(job, line, "go 1.%llu found; known trace versions are %s",
                       (unsigned long long)found, known);
}

gotrace_status script_version(script_job *job, uint64_t line, const char *number, size_t size)
{
    uint64_t minor = 0;
    job->unreadable = true;
    if (job->version != 0)
        return script_fail(job, line, "the version of the trace is specified twice");
    gotrace_status status = script_number(job, line, number, size, &minor);
    if (status != GOTRACE_OK)
        return status;
    job->version = minor <= INT_MAX ? gotrace_release_version((int)minor) : 0;
    if (job->version == 0)
        return fail_version(job, line, minor);
    job->frame_values = gotrace_frame_values(job->version);
    make_shapes(job);
    if (script_head_end(job, line) != GOTRACE_OK)
        return GOTRACE_ERROR;
    job->unreadable = false;
    if (job->meaning && !job->meaning->is_raw)
        return GOTRACE_OK;
    gotrace_error *error = script_error_of(job, GOTRACE_RULE_NONE, line);
    return gotrace_encoder_new(job->version, script_write, job, job->config, &job->encoder, error);
}

/* ---- a record ------------------------------------------------------------------------------ */

void script_record_reset(script_job *job, uint64_t line)
{
    script_record *record = &job->record;
    job->faulty = job->doubts_recorded = false;
    record->line = line;
    record->shape = NULL;
    record->seen = 0;
    record->has_data = record->has_frames = record->has_form = false;
    record->value_count = GOTRACE_MAX_ARGS;
    record->data_size = 0;
    record->pad_count = 0;
}

gotrace_status script_record_name(script_job *job, const char *name, size_t size)
{
    for (unsigned slot = name_hash(name, size); job->names[slot]; slot = (slot + 1) % 256)
        if (is_name(job->names[slot]->spec->name, name, size)) {
            job->record.shape = job->names[slot];
            return GOTRACE_OK;
        }
    return script_fail_event(job, name, size);
}

gotrace_status script_record_code(script_job *job, uint64_t line, uint64_t code)
{
    if (code >= SCRIPT_CODES || !job->shapes[code].spec)
        return script_fail(job, line, "%llu is not the code of an event of go 1.%d",
                           (unsigned long long)code, job->version);
    job->record.shape = &job->shapes[code];
    return GOTRACE_OK;
}

gotrace_status script_record_arg(script_job *job, uint64_t line, const char *name, size_t size,
                                 uint64_t **slot)
{
    script_record *record = &job->record;
    const script_shape *shape = record->shape;
    for (size_t i = 0; i < shape->arg_count; i++) {
        if (!is_name(shape->args[i]->name, name, size))
            continue;
        if (record->seen & 1u << i)
            return script_fail(job, line, "%s has its argument %s twice", shape->spec->name,
                               shape->args[i]->name);
        record->seen |= 1u << i;
        *slot = &record->values[GOTRACE_MAX_ARGS - shape->arg_count + i];
        return GOTRACE_OK;
    }
    return script_fail_arg(job, line, name, size);
}

static gotrace_status add_value(script_job *job, uint64_t line, uint64_t value)
{
    script_record *record = &job->record;
    size_t most = GOTRACE_MAX_ARGS + (size_t)job->frame_limit * job->frame_values;
    if (record->value_count >= most)
        return script_fail(job, line, "a stack of more than %llu frames",
                           (unsigned long long)job->frame_limit);
    void *values = record->values;
    gotrace_status status = script_grow(job, &values, &record->value_capacity,
                                        record->value_count + 1, sizeof *record->values);
    record->values = values;
    if (status == GOTRACE_OK)
        record->values[record->value_count++] = value;
    return status;
}

gotrace_status script_record_bytes(script_job *job, uint64_t line, const char *bytes, size_t size)
{
    script_record *record = &job->record;
    if (size > job->data_limit - record->data_size)
        return script_fail(job, line, "data of more than %llu bytes",
                           (unsigned long long)job->data_limit);
    void *data = record->data;
    gotrace_status status = script_grow(job, &data, &record->data_capacity,
                                        record->data_size + size, 1);
    record->data = data;
    if (status != GOTRACE_OK || size == 0)
        return status;
    memcpy(record->data + record->data_size, bytes, size);
    record->data_size += size;
    return GOTRACE_OK;
}

gotrace_status script_record_frame(script_job *job, uint64_t line, const uint64_t *row)
{
    for (size_t i = 0; i < job->frame_values; i++)
        if (add_value(job, line, row[i]) != GOTRACE_OK)
            return GOTRACE_ERROR;
    return GOTRACE_OK;
}

gotrace_status script_record_pad(script_job *job, uint64_t line, const uint64_t *row)
{
    script_record *record = &job->record;
    /* A pad for each value, and for two lengths, is the maximum; more means that pads are
     * duplicated. */
    if (record->pad_count > GOTRACE_MAX_ARGS + job->frame_limit * job->frame_values)
        return script_fail(job, line, "more pads than a record can have numbers");
    void *pads = record->pads;
    gotrace_status status = script_grow(job, &pads, &record->pad_capacity, record->pad_count + 1,
                                        sizeof *record->pads);
    record->pads = pads;
    if (status == GOTRACE_OK)
        record->pads[record->pad_count++] = (script_pad){row[0], row[1]};
    return status;
}

/* Checks the frames against the given count, or sets the count. */
static gotrace_status end_frames(script_job *job, size_t count_at)
{
    script_record *record = &job->record;
    size_t values = record->value_count - GOTRACE_MAX_ARGS;
    uint64_t frames = values / job->frame_values;
    uint64_t *given = &record->values[GOTRACE_MAX_ARGS - record->shape->arg_count + count_at];
    if (!(record->seen & 1u << count_at)) {
        *given = frames;
        record->seen |= 1u << count_at;
    }
    if (*given != frames)
        return script_fail(job, record->line, "%s says %llu frame%s, but has %llu",
                           record->shape->spec->name, (unsigned long long)*given, plural(*given),
                           (unsigned long long)frames);
    return GOTRACE_OK;
}

static gotrace_status check_args(script_job *job)
{
    script_record *record = &job->record;
    const script_shape *shape = record->shape;
    const gotrace_event_spec *spec = shape->spec;
    if (spec->flags & GOTRACE_SPEC_FRAMES) {
        for (size_t i = 0; i < shape->arg_count; i++)
            if (shape->args[i]->kind == GOTRACE_ARG_COUNT && end_frames(job, i) != GOTRACE_OK)
                return GOTRACE_ERROR;
    } else if (record->has_frames) {
        return script_fail(job, record->line, "%s has frames, which only a Stack has", spec->name);
    }
    for (size_t i = 0; i < shape->arg_count; i++)
        if (!(record->seen & 1u << i))
            return script_fail(job, record->line, "%s lacks its argument %s", spec->name,
                               shape->args[i]->name);
    if (!(spec->flags & GOTRACE_SPEC_DATA) == record->has_data)
        return script_fail(job, record->line,
                           record->has_data ? "%s has data, which it cannot have"
                                            : "%s lacks its data",
                           spec->name);
    if (record->has_form && record->form > 3)
        return script_fail(job, record->line, "%s has form %llu; 0 to 3 are possible", spec->name,
                           (unsigned long long)record->form);
    return GOTRACE_OK;
}

/* The widths given by pads; 0 for all other values. */
static gotrace_status make_widths(script_job *job, gotrace_record *made)
{
    script_record *record = &job->record;
    bool has_data = made->spec->flags & GOTRACE_SPEC_DATA;
    bool is_string = has_data && !(made->spec->flags & GOTRACE_SPEC_TIMED);
    size_t count = made->arg_count + has_data + (made->form == 3 && !is_string);
    void *widths = job->widths;
    gotrace_status status = script_grow(job, &widths, &job->width_capacity, count, 1);
    job->widths = widths;
    if (status != GOTRACE_OK)
        return status;
    memset(job->widths, 0, count);
    for (size_t i = 0; i < record->pad_count; i++) {
        script_pad pad = record->pads[i];
        if (pad.index >= count || pad.width < 1 || pad.width > 10)
            return script_fail(job, record->line,
                               "pad %llu:%llu: %s has %zu numbers, of 1 to 10 bytes",
                               (unsigned long long)pad.index, (unsigned long long)pad.width,
                               made->spec->name, count);
        job->widths[pad.index] = (uint8_t)pad.width;
    }
    made->widths = job->widths;
    made->width_count = count;
    return GOTRACE_OK;
}

gotrace_status script_record_end(script_job *job)
{
    script_record *record = &job->record;
    if (job->faulty)
        return GOTRACE_OK;
    if (check_args(job) != GOTRACE_OK)
        return GOTRACE_ERROR;
    const script_shape *shape = record->shape;
    gotrace_record made = {
        .spec = shape->spec,
        .args = record->values + (GOTRACE_MAX_ARGS - shape->arg_count),
        .arg_count = shape->arg_count + record->value_count - GOTRACE_MAX_ARGS,
        .data = record->has_data ? record->data : NULL,
        .data_size = record->data_size,
        .form = record->has_form ? (uint8_t)record->form
                                 : gotrace_record_form(shape->spec, job->version),
    };
    if (record->pad_count > 0 && make_widths(job, &made) != GOTRACE_OK)
        return GOTRACE_ERROR;
    if (gotrace_encoder_record(job->encoder, &made) != GOTRACE_OK)
        return script_fail_as(job, record->line, gotrace_encoder_error(job->encoder));
    job->events++;
    return GOTRACE_OK;
}

/* ---- deviations ---------------------------------------------------------------------------- */

bool script_odd_form(const gotrace_record *record, int version)
{
    return record->form != gotrace_record_form(record->spec, version);
}

static size_t varint_size(uint64_t v)
{
    size_t size = 1;
    for (; v >= 0x80; v >>= 7)
        size++;
    return size;
}

bool script_odd_width(const gotrace_record *record, int version, size_t *n)
{
    bool has_data = record->spec->flags & GOTRACE_SPEC_DATA;
    size_t lengths = record->width_count - record->arg_count - has_data;
    for (; *n < record->width_count; ++*n) {
        uint64_t value;
        if (*n < lengths) {
            value = 0;
            for (size_t i = 0; i < record->arg_count; i++)
                value += record->widths[lengths + i];
        } else {
            size_t i = *n - lengths;
            value = i < record->arg_count ? record->args[i] : record->data_size;
        }
        size_t usual = gotrace_record_width(record->spec, version, *n);
        size_t least = varint_size(value);
        if (record->widths[*n] != (usual > least ? usual : least))
            return true;
    }
    return false;
}

/* ---- entry points ---------------------------------------------------------------------------- */

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
    if (job->meaning && !job->meaning->is_raw)
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
