/*
 * schemas.c - what event scripts look like, from the event tables that the library has as data:
 *
 *   schemas cddl        formats/script.cddl: of CBOR
 *   schemas json        formats/script.schema.json: of JSON
 *
 * An event is described once for all versions in a row in which it is the same, under its name and
 * the first of them.
 */
#include <gotrace.h>
#include <stdio.h>
#include <string.h>

/* The first version of the v2 format, and how many types of events there can be. */
enum { V2 = 22, CODES = 256 };

/* An event as a version has it. */
typedef struct shape {
    const gotrace_event_spec *spec; /* NULL: it has none of that code */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t arg_count, frame_values;
} shape;

static shape shape_of(int version, unsigned code)
{
    shape s = {.spec = gotrace_event_spec_of(version, code)};
    if (!s.spec)
        return s;
    s.arg_count = gotrace_event_args(s.spec, version, s.args);
    if (s.spec->flags & GOTRACE_SPEC_FRAMES)
        s.frame_values = gotrace_frame_values(version);
    return s;
}

static bool is_same(const shape *a, const shape *b)
{
    bool same = a->spec == b->spec && a->arg_count == b->arg_count &&
                a->frame_values == b->frame_values;
    for (size_t i = 0; same && i < a->arg_count; i++)
        same = a->args[i] == b->args[i];
    return same;
}

/* The first version in a row, up to the n-th, in which the event is as in that one. */
static int first_with(const int *versions, size_t n, unsigned code)
{
    shape here = shape_of(versions[n], code);
    while (n > 0) {
        shape before = shape_of(versions[n - 1], code);
        if (!is_same(&here, &before))
            break;
        n--;
    }
    return versions[n];
}

/* Call describe for each event that is another one than in the version before. */
static void each_shape(void (*describe)(const shape *s, int version))
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    for (size_t n = 0; n < count; n++)
        for (unsigned code = 0; code < CODES; code++) {
            shape s = shape_of(versions[n], code);
            if (s.spec && first_with(versions, n, code) == versions[n])
                describe(&s, versions[n]);
        }
}

/* Print the name of each event's description, of the n-th version, between these. */
static void print_names(size_t n, const char *before, const char *between, const char *after)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    const char *now = before;
    for (unsigned code = 0; code < CODES; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(versions[n], code);
        if (!spec)
            continue;
        printf("%s%s-1.%d", now, spec->name, first_with(versions, n, code));
        now = between;
    }
    printf("%s", after);
}

static bool has_data(const shape *s)
{
    return s->spec->flags & GOTRACE_SPEC_DATA;
}

/* ---- CDDL ----------------------------------------------------------------------------------- */

static const char cddl_head[] =
    "; Event scripts of gotrace in CBOR, in CDDL (RFC 8610): see gotrace-script(5).\n"
    ";\n"
    "; A script is one item, `document`; or several, a `header` and of its version any number of\n"
    "; `record-1.N`. In a document \"trace\" stands before \"records\". Tags may stand before any\n"
    "; item and mean nothing. Made from the event tables by tests/examples/schemas.c.\n"
    "\n";

static const char cddl_values[] =
    "number = uint / digits\n"
    "digits = text .regexp \"[0-9]+|0[xX][0-9A-Fa-f]+\"\n"
    "data = text / bytes\n"
    "pads = [* [index: number, width: number]]\n"
    "frame-1 = [pc: number]\n"
    "frame-4 = [pc: number, func: number, file: number, line: number]\n"
    "deviation-v1 = (? form: number, ? pad: pads)\n"
    "deviation-v2 = (? pad: pads)\n";

/* The arguments of an event, in an array or in a map. */
static void cddl_args(const shape *s, int version, bool in_map)
{
    for (size_t i = 0; i < s->arg_count; i++)
        if (s->args[i]->kind != GOTRACE_ARG_COUNT)
            printf(", %s: number", s->args[i]->name);
        else if (in_map)
            printf(", ? %s: number", s->args[i]->name);
    if (s->frame_values)
        printf(", ? frames: [* frame-%zu]", s->frame_values);
    if (has_data(s))
        printf(", data: data");
    printf(in_map ? ", deviation-v%d" : ", ? {deviation-v%d}", version < V2 ? 1 : 2);
}

static void cddl_event(const shape *s, int version)
{
    printf("%s-1.%d =\n  [event: %u / \"%s\"", s->spec->name, version, s->spec->code,
           s->spec->name);
    cddl_args(s, version, false);
    printf("] /\n  {event: \"%s\"", s->spec->name);
    cddl_args(s, version, true);
    printf("}\n");
}

static void print_cddl(void)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    printf("%sdocument = #6.55799(any-document) / any-document\nany-document =", cddl_head);
    for (size_t n = 0; n < count; n++)
        printf("%s document-1.%d", n ? " /" : "", versions[n]);
    printf(
        "\nheader = #6.55799(any-header) / any-header\nany-header = {trace: version}\nversion =");
    for (size_t n = 0; n < count; n++)
        printf("%s \"go 1.%d\"", n ? " /" : "", versions[n]);
    printf("\n\n%s\n", cddl_values);
    for (size_t n = 0; n < count; n++) {
        printf("document-1.%d = {trace: \"go 1.%d\", records: [* record-1.%d]}\n", versions[n],
               versions[n], versions[n]);
        printf("record-1.%d =", versions[n]);
        print_names(n, "\n  ", " /\n  ", "\n\n");
    }
    each_shape(cddl_event);
}

/* ---- JSON Schema ---------------------------------------------------------------------------- */

static const char json_head[] =
    "{\n"
    "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
    "\"title\": \"event script of gotrace\",\n"
    "\"description\": \"A JSON document as gotrace-script(5) describes it. Of JSON Lines the first "
    "one is #/$defs/header, the others are #/$defs/go1.N. Made from the event tables by "
    "tests/examples/schemas.c.\",\n"
    "\"type\": \"object\",\n"
    "\"required\": [\"trace\", \"records\"],\n"
    "\"additionalProperties\": false,\n"
    "\"properties\": {\"trace\": {\"$ref\": \"#/$defs/version\"}, \"records\": {\"type\": "
    "\"array\"}},\n";

static const char json_values[] =
    "\"header\": {\"type\": \"object\", \"required\": [\"trace\"], \"additionalProperties\": "
    "false, "
    "\"properties\": {\"trace\": {\"$ref\": \"#/$defs/version\"}}},\n"
    "\"number\": {\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0, \"maximum\": "
    "9223372036854775807}, {\"type\": \"string\", \"pattern\": "
    "\"^([0-9]+|0[xX][0-9A-Fa-f]+)$\"}]},\n"
    "\"hex\": {\"type\": \"string\", \"pattern\": \"^([0-9A-Fa-f]{2})*$\"},\n"
    "\"pads\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/row-2\"}},\n";

/* An array of so many numbers. */
static void json_row(size_t width)
{
    printf("\"row-%zu\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/number\"}, "
           "\"minItems\": %zu, \"maxItems\": %zu},\n",
           width, width, width);
}

static void json_event(const shape *s, int version)
{
    printf(",\n\"%s-1.%d\": {\"type\": \"object\", \"required\": [\"event\"", s->spec->name,
           version);
    for (size_t i = 0; i < s->arg_count; i++)
        if (s->args[i]->kind != GOTRACE_ARG_COUNT)
            printf(", \"%s\"", s->args[i]->name);
    printf("], \"additionalProperties\": false,\n  \"properties\": {\"event\": {\"const\": \"%s\"}",
           s->spec->name);
    for (size_t i = 0; i < s->arg_count; i++)
        printf(", \"%s\": {\"$ref\": \"#/$defs/number\"}", s->args[i]->name);
    if (s->frame_values)
        printf(", \"frames\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/row-%zu\"}}",
               s->frame_values);
    if (has_data(s))
        printf(", \"data\": {\"type\": \"string\"}, \"data_hex\": {\"$ref\": \"#/$defs/hex\"}");
    if (version < V2)
        printf(", \"form\": {\"$ref\": \"#/$defs/number\"}");
    printf(", \"pad\": {\"$ref\": \"#/$defs/pads\"}}");
    if (has_data(s))
        printf(",\n  \"oneOf\": [{\"required\": [\"data\"]}, {\"required\": [\"data_hex\"]}]");
    printf("}");
}

static void print_json(void)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    printf("%s\"allOf\": [", json_head);
    for (size_t n = 0; n < count; n++)
        printf("%s\n  {\"if\": {\"properties\": {\"trace\": {\"const\": \"go 1.%d\"}}}, \"then\": "
               "{\"properties\": {\"records\": {\"items\": {\"$ref\": \"#/$defs/go1.%d\"}}}}}",
               n ? "," : "", versions[n], versions[n]);
    printf("],\n\"$defs\": {\n\"version\": {\"enum\": [");
    for (size_t n = 0; n < count; n++)
        printf("%s\"go 1.%d\"", n ? ", " : "", versions[n]);
    printf("]},\n%s", json_values);
    json_row(1);
    json_row(2);
    json_row(4);
    for (size_t n = 0; n < count; n++) {
        printf("%s\"go1.%d\": {\"anyOf\": [", n ? ",\n" : "", versions[n]);
        print_names(n, "\n  {\"$ref\": \"#/$defs/", "\"},\n  {\"$ref\": \"#/$defs/", "\"}]}");
    }
    each_shape(json_event);
    printf("\n}\n}\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "cddl") == 0) {
        print_cddl();
    } else if (argc == 2 && strcmp(argv[1], "json") == 0) {
        print_json();
    } else {
        fprintf(stderr, "usage: schemas cddl|json\n");
        return 2;
    }
    return fflush(stdout) != 0;
}
