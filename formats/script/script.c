/* script.c - reading a script, and conversion of script records to records of a trace. */
#include "formats/script/script.h"

#include <errno.h>
#include <string.h>

#include "formats/common/plural.h"

enum { READ_SIZE = 256 * 1024 };

/* ---- memory --------------------------------------------------------------------------------- */

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

void script_set_version(script_job *job, int version)
{
    job->version = version;
    job->frame_values = gotrace_frame_values(version);
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
