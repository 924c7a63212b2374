/*
 * foreign.c - recognises files of other kinds that users mistake for traces: one row per kind.
 *
 * A kind has a magic number at a fixed offset or a function. Magic numbers have at least three
 * bytes, so that a damaged trace is unlikely to match one.
 */
#include "core/foreign.h"

#include <stdbool.h>
#include <string.h>

/* ---- text ----------------------------------------------------------------------------------- */

/* Skips a byte order mark and white space. */
static const uint8_t *skip_space(const uint8_t *p, const uint8_t *end)
{
    if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

/* Whether the text at p equals text, which is lower case, ignoring case. */
static bool starts(const uint8_t *p, const uint8_t *end, const char *text)
{
    for (; *text; text++, p++)
        if (p == end || (*p | (*p >= 'A' && *p <= 'Z' ? 0x20 : 0)) != (uint8_t)*text)
            return false;
    return true;
}

static bool holds(const uint8_t *p, const uint8_t *end, const char *text)
{
    for (size_t size = strlen(text); (size_t)(end - p) >= size; p++)
        if (memcmp(p, text, size) == 0)
            return true;
    return false;
}

static bool is_html(const uint8_t *p, const uint8_t *end)
{
    p = skip_space(p, end);
    return starts(p, end, "<!doctype html") || starts(p, end, "<html") || starts(p, end, "<head");
}

static bool is_xml(const uint8_t *p, const uint8_t *end)
{
    return starts(skip_space(p, end), end, "<?xml");
}

/* An object with a member, or an array of values other than numbers. */
static bool is_json(const uint8_t *p, const uint8_t *end)
{
    p = skip_space(p, end);
    if (p == end || (*p != '{' && *p != '['))
        return false;
    char first = (char)*p;
    p = skip_space(p + 1, end);
    return p < end && (*p == '"' || (first == '[' && (*p == '{' || *p == '[')));
}

static bool is_chrome(const uint8_t *p, const uint8_t *end)
{
    return is_json(p, end) && (holds(p, end, "\"traceEvents\"") ||
                               (holds(p, end, "\"ph\"") && holds(p, end, "\"ts\"")));
}

/* The first member of scripts is "trace", the version. */
static bool is_json_script(const uint8_t *p, const uint8_t *end)
{
    if (!is_json(p, end))
        return false;
    p = skip_space(skip_space(p, end) + 1, end);
    return starts(p, end, "\"trace\"") && holds(p, end, "\"go 1.");
}

static bool is_text_script(const uint8_t *p, const uint8_t *end)
{
    return starts(skip_space(p, end), end, "trace go1.");
}

/* CBOR with its magic tag, and an array or map that begins with "trace". */
static bool is_cbor_script(const uint8_t *p, const uint8_t *end)
{
    static const char version[] = "etrace";
    return end - p > 10 && memcmp(p, "\xd9\xd9\xf7", 3) == 0 && memcmp(p + 4, version, 6) == 0;
}

/* ---- protobuf ------------------------------------------------------------------------------- */

enum { VARINT = 0, FIXED_64 = 1, BYTES = 2, FIXED_32 = 5 };

static bool take_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
        uint8_t byte = *(*p)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Reads a field: number and type into *tag, its value or length into *value. */
static bool take_field(const uint8_t **p, const uint8_t *end, uint64_t *tag, uint64_t *value)
{
    if (!take_varint(p, end, tag))
        return false;
    switch (*tag & 7) {
    case VARINT: return take_varint(p, end, value);
    case BYTES: return take_varint(p, end, value) && *value <= (uint64_t)(end - *p);
    case FIXED_64: *value = 8; break;
    case FIXED_32: *value = 4; break;
    default: return false;
    }
    return *value <= (uint64_t)(end - *p);
}

/* profile.proto begins with its sample types: indexes of two strings, type and unit. */
static bool is_pprof(const uint8_t *p, const uint8_t *end)
{
    enum { SAMPLE_TYPE = 1 << 3 | BYTES, SAMPLE = 2 << 3 | BYTES, TYPE = 1 << 3, UNIT = 2 << 3 };
    uint64_t tag, size, value;
    if (!take_field(&p, end, &tag, &size) || tag != SAMPLE_TYPE)
        return false;
    const uint8_t *stop = p + size;
    return take_field(&p, stop, &tag, &value) && tag == TYPE &&
           take_field(&p, stop, &tag, &value) && tag == UNIT && p == stop && p < end &&
           (*p == SAMPLE_TYPE || *p == SAMPLE);
}

/* Whether a packet, which may be cut off, has only fields of TracePacket, including one of those
 * that nearly every packet has. */
static bool is_packet(const uint8_t *p, const uint8_t *end, bool cut)
{
    enum { USER = 3, CLOCKS = 6, TIMESTAMP = 8, SEQUENCE = 10, CONFIG = 33, SYNC = 36 };
    enum { MOST_FIELDS = 2000 };
    bool known = false;
    while (p < end) {
        uint64_t tag, value;
        if (!take_field(&p, end, &tag, &value))
            return cut && known;
        if (tag >> 3 == 0 || tag >> 3 > MOST_FIELDS)
            return false;
        if ((tag & 7) != VARINT)
            p += value;
        switch (tag) {
        case USER << 3 | VARINT:
        case TIMESTAMP << 3 | VARINT:
        case SEQUENCE << 3 | VARINT:
        case CLOCKS << 3 | BYTES:
        case CONFIG << 3 | BYTES:
        case SYNC << 3 | BYTES: known = true; break;
        default: break;
        }
    }
    return known;
}

/* perfetto.protos.Trace is a sequence of packets. */
static bool is_perfetto(const uint8_t *p, const uint8_t *end)
{
    enum { PACKET = 1 << 3 | BYTES };
    uint64_t size;
    if (p == end || *p++ != PACKET || !take_varint(&p, end, &size))
        return false;
    if (size >= (uint64_t)(end - p))
        return is_packet(p, end, true);
    return is_packet(p, p + size, false) && p[size] == PACKET;
}

/* ---- table of kinds -------------------------------------------------------------------------- */

typedef struct kind {
    const char *magic;
    size_t magic_size, at;
    bool (*is)(const uint8_t *p, const uint8_t *end); /* if there is no magic number */
    const char *what;
} kind;

#define MAGIC(bytes, at, what)                                                                     \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, at, NULL, what                                                   \
    }
#define LOOK(is, what)                                                                             \
    {                                                                                              \
        NULL, 0, 0, is, what                                                                       \
    }

/* The first match counts. FILE is a placeholder: the library does not know file names. */
static const kind kinds[] = {
    MAGIC("\xfd"
          "7zXZ\0",
          0, "compressed with xz: xz -dc FILE | gotrace validate -"),
    MAGIC("BZh", 0, "compressed with bzip2: bzip2 -dc FILE | gotrace validate -"),
    MAGIC("\x04\x22\x4d\x18", 0, "compressed with lz4: lz4 -dc FILE | gotrace validate -"),
    /* gzip and zstd are read directly, except within each other. */
    MAGIC("\x1f\x8b\x08", 0, "compressed with gzip: gzip -dc FILE | gotrace validate -"),
    MAGIC("\x28\xb5\x2f\xfd", 0, "compressed with zstd: zstd -dc FILE | gotrace validate -"),
    MAGIC("gotrace crash\n", 0,
          "the crash file of a recorder: gotrace repair FILE makes a trace of it"),
    MAGIC("PK\3\4", 0, "a zip archive: unpack it with unzip FILE, and read the trace in it"),
    MAGIC("ustar", 257, "a tar archive: unpack it with tar -xf FILE, and read the trace in it"),
    LOOK(is_text_script, "an event script: gotrace synth FILE builds a trace from it"),
    LOOK(is_json_script, "an event script: gotrace synth FILE builds a trace from it"),
    LOOK(is_cbor_script, "an event script: gotrace synth FILE builds a trace from it"),
    LOOK(is_chrome, "a Chrome timeline, which gotrace writes but does not read: "
                    "convert the Go trace that it was made from"),
    LOOK(is_json, "JSON, but not an event script: gotrace reads Go traces"),
    LOOK(is_html, "an HTML page, perhaps the answer to a wrong URL or a login page: "
                  "traces come from /debug/pprof/trace?seconds=5"),
    LOOK(is_xml, "an XML document"),
    MAGIC("404 page not found", 0,
          "the answer of a server to a wrong URL: "
          "traces come from /debug/pprof/trace?seconds=5"),
    MAGIC("Could not enable tracing", 0,
          "an error message of net/http/pprof: "
          "another trace is being recorded, try again later"),
    LOOK(is_pprof, "a pprof profile: go tool pprof FILE shows it"),
    LOOK(is_perfetto, "a Perfetto timeline, which gotrace writes but does not read: "
                      "convert the Go trace that it was made from"),
    MAGIC("\177ELF", 0,
          "an ELF file (a program or a library): gotrace reads the traces that programs record"),
    MAGIC("PERFILE2", 0, "a profile of perf: perf report -i FILE shows it"),
    MAGIC("%PDF-", 0, "a PDF document"),
    MAGIC("\x89PNG", 0, "a PNG image"),
    MAGIC("\xff\xd8\xff", 0, "a JPEG image"),
};

const char *gt_foreign(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const kind *k = &kinds[i];
        if (k->is ? k->is(p, p + n)
                  : n >= k->at + k->magic_size && memcmp(p + k->at, k->magic, k->magic_size) == 0)
            return k->what;
    }
    return NULL;
}
