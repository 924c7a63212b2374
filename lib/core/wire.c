#include "core/wire.h"

#include <stdio.h>
#include <string.h>

#include "core/errors.h"
#include "core/foreign.h"
#include "core/text.h"

/* Skips that many varints; *last is set to the last one. On failure returns NULL and sets
 * *status. */
static const uint8_t *skip_varints(const uint8_t *p, const uint8_t *end, uint64_t count,
                                   uint64_t *last, gt_frame *frame, gt_wire_status *status)
{
    for (uint64_t left = count; left > 0; left--) {
        const uint8_t *start = p;
        int used = gt_varint(&p, end, last);
        if (used > 0)
            continue;
        frame->bad = start;
        *status = used < 0 ? GT_WIRE_VARINT : GT_WIRE_MORE;
        /* This one has at least one more byte, and so has each one after it. */
        frame->size += left - 1;
        return NULL;
    }
    return p;
}

/* Reads the length at *p and finds the bytes after it. */
static gt_wire_status read_data(const uint8_t *p, const uint8_t *end, uint64_t max,
                                gt_wire_status too_long, bool may_be_empty, gt_frame *frame)
{
    frame->bad = p;
    int used = gt_varint(&p, end, &frame->data_size);
    if (used <= 0)
        return used < 0 ? GT_WIRE_VARINT : GT_WIRE_MORE;
    if (frame->data_size > max || (frame->data_size == 0 && !may_be_empty))
        return too_long;
    frame->data = p;
    return GT_WIRE_OK;
}

/* The record ends at the end of its data. */
static gt_wire_status pass_data(const uint8_t *start, const uint8_t *end, gt_frame *frame)
{
    frame->size = (uint64_t)(frame->data - start) + frame->data_size;
    return frame->data_size > (uint64_t)(end - frame->data) ? GT_WIRE_MORE : GT_WIRE_OK;
}

gt_wire_status gt_wire_frame(const gt_v1_shape shapes[64], int version, uint64_t max_string,
                             const uint8_t *p, size_t n, gt_frame *frame)
{
    const uint8_t *start = p, *end = p + n;
    gt_wire_status status = GT_WIRE_OK;
    *frame = (gt_frame){.size = n + 1};
    if (n == 0)
        return GT_WIRE_MORE;
    uint8_t first = *p++;
    frame->type = first & 0x3f;
    frame->form = first >> 6;
    frame->values = p;
    if (shapes[frame->type].values == 0)
        return GT_WIRE_TYPE;

    bool is_string = frame->type == GOTRACE_V1_String;
    if (frame->form < 3 || is_string) {
        unsigned count = is_string ? 1 : frame->form + (version < GT_FIRST_NUMBERED ? 2u : 1u);
        uint64_t ignored;
        p = skip_varints(p, end, count, &ignored, frame, &status);
        if (!p)
            return status;
    } else {
        frame->bad = p;
        int used = gt_varint(&p, end, &frame->length);
        if (used <= 0)
            return used < 0 ? GT_WIRE_VARINT : GT_WIRE_MORE;
        frame->values = p;
        if (frame->length > (uint64_t)(end - p)) {
            uint64_t before = (uint64_t)(p - start);
            frame->size = frame->length > UINT64_MAX - before ? UINT64_MAX : before + frame->length;
            return GT_WIRE_MORE;
        }
        p += frame->length;
    }
    frame->values_end = p;

    if (shapes[frame->type].flags & GOTRACE_SPEC_DATA) {
        status = read_data(p, end, max_string,
                           is_string ? GT_WIRE_STRING_LENGTH : GT_WIRE_LOG_LENGTH, !is_string,
                           frame);
        if (status != GT_WIRE_OK)
            return status;
        return pass_data(start, end, frame);
    }
    frame->size = (uint64_t)(p - start);
    return GT_WIRE_OK;
}

gt_wire_status gt_wire_frame_v2(const gt_v2_shape shapes[GT_CODES], uint64_t max_string,
                                uint64_t max_frames, const uint8_t *p, size_t n, gt_frame *frame)
{
    const uint8_t *start = p, *end = p + n;
    gt_wire_status status = GT_WIRE_OK;
    uint64_t last = 0;
    *frame = (gt_frame){.size = n + 1};
    if (n == 0)
        return GT_WIRE_MORE;
    frame->type = *p++;
    frame->values = p;
    const gt_v2_shape *shape = &shapes[frame->type];
    if (!shape->exists)
        return GT_WIRE_TYPE;
    p = skip_varints(p, end, shape->values, &last, frame, &status);
    if (p && shape->flags & GOTRACE_SPEC_FRAMES) {
        frame->frames = last;
        if (frame->frames > max_frames)
            return GT_WIRE_FRAMES;
        p = skip_varints(p, end, 4 * frame->frames, &last, frame, &status);
    }
    if (!p)
        return status;
    frame->values_end = p;
    if (shape->flags & GOTRACE_SPEC_DATA) {
        bool is_string = frame->type == GOTRACE_V2_String;
        status = read_data(p, end, is_string ? max_string : GT_BATCH_MAX,
                           is_string ? GT_WIRE_STRING_LENGTH : GT_WIRE_BATCH_LENGTH, true, frame);
        if (status != GT_WIRE_OK)
            return status;
        return pass_data(start, end, frame);
    }
    frame->size = (uint64_t)(p - start);
    return GT_WIRE_OK;
}

static void version_text(char *text, size_t size)
{
    size_t count, used = 0;
    const int *versions = gotrace_versions(&count);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s1.%d", i ? ", " : "", versions[i]);
}

static int refuse_version(int major, int minor, gotrace_error *error)
{
    char known[96];
    version_text(known, sizeof known);
    gt_error_set(error, GOTRACE_RULE_HEADER_VERSION, GT_AT(0),
                 "unknown version go %d.%d; known are %s", major, minor, known);
    return 0;
}

/* "go M.NN trace" in exactly this spelling. Returns its length, 0 if it is different. */
static size_t parse_version(const uint8_t header[GT_HEADER_SIZE], int *major, int *minor)
{
    char spelled[32] = "";
    *major = header[3] - '0';
    *minor = 0;
    for (int i = 5; i < 8 && header[i] >= '0' && header[i] <= '9'; i++)
        *minor = *minor * 10 + header[i] - '0';
    if (*major < 1 || *major > 9)
        return 0;
    int length = snprintf(spelled, sizeof spelled, "go %d.%d trace", *major, *minor);
    return memcmp(spelled, header, (size_t)length) == 0 ? (size_t)length : 0;
}

static int refuse_magic(const uint8_t *p, size_t n, const char *why, gotrace_error *error)
{
    char quote[GT_TEXT_QUOTE];
    const char *kind = gt_foreign(p, n);
    bool text = gt_text_run(p, p + n) == n || gt_text_begins(p, p + n, false);
    gt_text_quote(p, p + n, quote);
    if (kind)
        gt_error_set(error, GOTRACE_RULE_HEADER_FOREIGN, GT_AT(0),
                     "this is not a Go trace: it is %s", kind);
    else if (text)
        gt_error_set(error, GOTRACE_RULE_HEADER_MAGIC, GT_AT(0),
                     "this is not a Go trace: it begins with the text \"%s\"", quote);
    else
        gt_error_set(error, GOTRACE_RULE_HEADER_MAGIC, GT_AT(0), "this is not a Go trace%s", why);
    return 0;
}

int gt_wire_header(const uint8_t *p, size_t n, gotrace_error *error)
{
    if (n < GT_HEADER_SIZE) {
        static const char start[] = "go 1.";
        if (n == 0)
            gt_error_set(error, GOTRACE_RULE_HEADER_SHORT, GT_AT(0), "the file is empty");
        else if (memcmp(p, start, n < 5 ? n : 5) != 0)
            return refuse_magic(p, n, "", error);
        else
            gt_error_set(error, GOTRACE_RULE_HEADER_SHORT, GT_AT(n),
                         "the header is cut off after %zu of %d bytes", n, GT_HEADER_SIZE);
        return 0;
    }
    int major, minor;
    size_t spelled = parse_version(p, &major, &minor);
    if (spelled == 0)
        return refuse_magic(p, n, ": it does not start with \"go 1.N trace\"", error);
    for (size_t i = spelled; i < GT_HEADER_SIZE; i++)
        if (p[i] != 0) {
            gt_error_set(error, GOTRACE_RULE_HEADER_MAGIC, GT_AT(i),
                         "the header has byte 0x%02x where NUL is expected", p[i]);
            return 0;
        }
    size_t count;
    const int *versions = gotrace_versions(&count);
    for (size_t i = 0; major == 1 && i < count; i++)
        if (versions[i] == minor)
            return minor;
    return refuse_version(major, minor, error);
}
