#include "wire.h"

#include <stdio.h>
#include <string.h>

#include "errors.h"

static const uint8_t *skip_varints(const uint8_t *p, const uint8_t *end, unsigned count,
                                   gt_frame *frame, gt_wire_status *status)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t ignored;
        const uint8_t *start = p;
        int used = gt_varint(&p, end, &ignored);
        if (used <= 0) {
            frame->bad = start;
            *status = used < 0 ? GT_WIRE_VARINT : GT_WIRE_MORE;
            return NULL;
        }
    }
    return p;
}

/* The length at *p and the bytes after it. */
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

    bool is_string = frame->type == GT_V1_String;
    if (frame->form < 3 || is_string) {
        unsigned count = is_string ? 1 : frame->form + (version < 7 ? 2u : 1u);
        p = skip_varints(p, end, count, frame, &status);
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
        if (frame->data_size > (uint64_t)(end - frame->data)) {
            frame->size = (uint64_t)(frame->data - start) + frame->data_size;
            return GT_WIRE_MORE;
        }
        p = frame->data + frame->data_size;
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

/* Versions of the v2 format: 1.24 writes 1.23, 1.27 writes 1.26. */
static bool is_v2(int major, int minor)
{
    return major == 1 && (minor == 22 || minor == 23 || minor == 25 || minor == 26);
}

static int refuse_version(int major, int minor, gotrace_error *error)
{
    char known[96];
    version_text(known, sizeof known);
    if (is_v2(major, minor))
        gt_error_set(error, GOTRACE_RULE_HEADER_V2, GT_AT(0),
                     "version is go 1.%d: traces of Go 1.22 and later are not read yet; "
                     "known are %s",
                     minor, known);
    else
        gt_error_set(error, GOTRACE_RULE_HEADER_VERSION, GT_AT(0),
                     "unknown version go %d.%d; known are %s", major, minor, known);
    return 0;
}

/* "go M.NN trace": no other spelling is one. Returns its length, 0 where it is none. */
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

int gt_wire_header(const uint8_t *p, size_t n, gotrace_error *error)
{
    if (n < GT_HEADER_SIZE) {
        static const char start[] = "go 1.";
        if (n == 0)
            gt_error_set(error, GOTRACE_RULE_HEADER_SHORT, GT_AT(0), "the file is empty");
        else if (memcmp(p, start, n < 5 ? n : 5) != 0)
            gt_error_set(error, GOTRACE_RULE_HEADER_MAGIC, GT_AT(0), "this is not a Go trace");
        else
            gt_error_set(error, GOTRACE_RULE_HEADER_SHORT, GT_AT(n),
                         "the header is cut off after %zu of %d bytes", n, GT_HEADER_SIZE);
        return 0;
    }
    int major, minor;
    size_t spelled = parse_version(p, &major, &minor);
    if (spelled == 0) {
        gt_error_set(error, GOTRACE_RULE_HEADER_MAGIC, GT_AT(0),
                     "this is not a Go trace: it does not start with \"go 1.N trace\"");
        return 0;
    }
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
