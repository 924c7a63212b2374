/*
 * schema.c - schemas of event scripts, from the library's event tables: of CBOR in CDDL, of JSON in
 * JSON Schema.
 *
 * An event is described once for all consecutive versions in which it is the same, under its name
 * and the first of these versions.
 */
#include <string.h>

#include "formats/script/script.h"

/* An event in a version; spec NULL: no event has that code. */
typedef struct shape {
    const gotrace_event_spec *spec;
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

/* The first of the consecutive versions up to the n-th in which the event is the same. */
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

/* Call describe for each event that differs from the one in the previous version. */
static void each_shape(out *o, void (*describe)(out *o, const shape *s, int version))
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    for (size_t n = 0; n < count; n++)
        for (unsigned code = 0; code < SCRIPT_CODES; code++) {
            shape s = shape_of(versions[n], code);
            if (s.spec && first_with(versions, n, code) == versions[n])
                describe(o, &s, versions[n]);
        }
}

/* Print the names of the descriptions of the n-th version's events, with separators. */
static void print_names(out *o, size_t n, const char *before, const char *between,
                        const char *after)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    const char *now = before;
    for (unsigned code = 0; code < SCRIPT_CODES; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(versions[n], code);
        if (!spec)
            continue;
        out_printf(o, "%s%s-1.%d", now, spec->name, first_with(versions, n, code));
        now = between;
    }
    out_printf(o, "%s", after);
}

static bool has_data(const shape *s)
{
    return s->spec->flags & GOTRACE_SPEC_DATA;
}

/* ---- level meaning --------------------------------------------------------------------------- */

/* Whether scripts of level meaning may contain the event: the writer does not write it by itself.
 */
static bool is_given(const gotrace_event_spec *spec)
{
    return strcmp(spec->name, "Sync") != 0 &&
           (spec->flags & GOTRACE_SPEC_TIMED || strcmp(spec->name, "CPUSample") == 0 ||
            strcmp(spec->name, "TimerGoroutine") == 0 ||
            strcmp(spec->name, "ExperimentalBatch") == 0);
}

/* Get the arguments of the event in scripts; *stack is the argument for the event's stack, or NULL.
 */
static size_t args_given(const shape *s, int version, const gotrace_arg_spec **args,
                         const gotrace_arg_spec **stack)
{
    const gotrace_arg_spec *given[GOTRACE_MAX_ARGS];
    size_t count = gotrace_writer_args(s->spec, version, given), n = 0;
    for (size_t i = 0; i < count; i++)
        if (given[i]->kind != GOTRACE_ARG_TICKS)
            args[n++] = given[i];
    bool has = s->arg_count > 0 && s->args[s->arg_count - 1]->kind == GOTRACE_ARG_STACK;
    *stack = has ? s->args[s->arg_count - 1] : NULL;
    return n;
}

/* Whether the i-th argument is optional. */
static bool is_optional(const shape *s, const gotrace_arg_spec *const *args, size_t i)
{
    bool sample = strcmp(s->spec->name, "CPUSample") == 0;
    switch ((gotrace_arg_kind)args[i]->kind) {
    case GOTRACE_ARG_STRING:
    case GOTRACE_ARG_START: return true;
    case GOTRACE_ARG_THREAD: return strcmp(s->spec->name, "ProcSteal") != 0;
    case GOTRACE_ARG_PROC:
    case GOTRACE_ARG_GOROUTINE: return sample;
    case GOTRACE_ARG_TASK: return i > 0 || strncmp(s->spec->name, "UserTask", 8) != 0;
    default: return false;
    }
}

/* The name of the argument's type in both languages. */
static const char *type_of(const gotrace_arg_spec *arg)
{
    switch ((gotrace_arg_kind)arg->kind) {
    case GOTRACE_ARG_STRING: return "data";
    case GOTRACE_ARG_START: return "stack";
    case GOTRACE_ARG_PSTATUS: return "proc-state";
    case GOTRACE_ARG_GSTATUS: return "goroutine-state";
    case GOTRACE_ARG_PROC:
    case GOTRACE_ARG_THREAD: return "signed";
    default: return "number";
    }
}

/* Whether p, m or g is the event's context, and not an argument. */
static bool is_place(const gotrace_arg_spec *const *args, size_t count, char name)
{
    for (size_t i = 0; i < count; i++)
        if (args[i]->name[0] == name && args[i]->name[1] == '\0')
            return false;
    return true;
}

/* Print the names of the descriptions of the n-th version's events, as print_names does. */
static void print_given(out *o, size_t n, const char *before, const char *between)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    const char *now = before;
    for (unsigned code = 0; code < SCRIPT_CODES; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(versions[n], code);
        if (!spec || !is_given(spec))
            continue;
        out_printf(o, "%s%s-meant-1.%d", now, spec->name, first_with(versions, n, code));
        now = between;
    }
    if (versions[n] >= GOTRACE_FIRST_V2)
        out_printf(o, "%sSync-meant", now);
}

/* ---- CDDL ----------------------------------------------------------------------------------- */

static const char cddl_head[] =
    "; Event scripts of gotrace in CBOR, in CDDL (RFC 8610): see gotrace-script(5).\n"
    ";\n"
    "; A script is one item, `document`; or a sequence of a `header` and any number of items of "
    "its\n"
    "; version: `record-1.N`, or with level meaning `meaning-1.N`. The member \"records\" or "
    "\"events\"\n"
    "; of a document is the last one. Tags before any item are ignored. Generated from\n"
    "; the event tables by gotrace dump --schema cbor.\n"
    "\n";

static const char cddl_values[] =
    "number = uint / digits\n"
    "digits = text .regexp \"[0-9]+|0[xX][0-9A-Fa-f]+\"\n"
    "data = text / bytes\n"
    "pads = [* [index: number, width: number]]\n"
    "frame-1 = [pc: number]\n"
    "frame-4 = [pc: number, func: number, file: number, line: number]\n"
    "deviation-v1 = (? form: number, ? pad: pads)\n"
    "deviation-v2 = (? pad: pads)\n"
    "\n"
    "; by meaning\n"
    "clock = (? frequency: number, ? start: number, ? procs: number,\n"
    "  ? tracer: \"go\" / \"gccgo\" / \"go-2023\", ? equal_ticks: bool / \"true\" / \"false\",\n"
    "  wall)\n"
    "wall = (? monotonic: number, ? wall_seconds: number, ? wall_nanoseconds: number)\n"
    "signed = int / text .regexp \"-?[0-9]+|0[xX][0-9A-Fa-f]+\"\n"
    "time = int / float / text .regexp \"-?([0-9]+(\\\\.[0-9]*)?|\\\\.[0-9]+)\"\n"
    "stack = [* data]\n"
    "proc-state = \"running\" / \"idle\" / \"syscall\" / \"abandoned\" / number\n"
    "goroutine-state = \"runnable\" / \"running\" / \"syscall\" / \"waiting\" / number\n"
    "when = ((t: time // ticks: number), ? raw: false)\n"
    "where = (? on_p: signed, ? on_m: signed, ? on_g: number)\n"
    "Sync-meant =\n"
    "  {event: \"Sync\", when, ? clock_t: time, ? clock_ticks: number, wall}\n";

/* Print the arguments of an event, in an array or in a map. */
static void cddl_args(out *o, const shape *s, int version, bool in_map)
{
    for (size_t i = 0; i < s->arg_count; i++)
        if (s->args[i]->kind != GOTRACE_ARG_COUNT)
            out_printf(o, ", %s: number", s->args[i]->name);
        else if (in_map)
            out_printf(o, ", ? %s: number", s->args[i]->name);
    if (s->frame_values)
        out_printf(o, ", ? frames: [* frame-%zu]", s->frame_values);
    if (has_data(s))
        out_printf(o, ", data: data");
    out_printf(o, in_map ? ", deviation-v%d, ? raw: true" : ", ? {deviation-v%d}",
               version < GOTRACE_FIRST_V2 ? 1 : 2);
}

static void cddl_event(out *o, const shape *s, int version)
{
    out_printf(o, "%s-1.%d =\n  [event: %u / \"%s\"", s->spec->name, version, s->spec->code,
               s->spec->name);
    cddl_args(o, s, version, false);
    out_printf(o, "] /\n  {event: \"%s\"", s->spec->name);
    cddl_args(o, s, version, true);
    out_printf(o, "}\n");
}

static void cddl_meant(out *o, const shape *s, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS], *stack;
    size_t count = args_given(s, version, args, &stack);
    if (!is_given(s->spec))
        return;
    out_printf(o, "%s-meant-1.%d =\n  {event: \"%s\", when, where", s->spec->name, version,
               s->spec->name);
    for (const char *place = "pmg"; *place; place++)
        if (is_place(args, count, *place))
            out_printf(o, ", ? %c: %s", *place, *place == 'g' ? "number" : "signed");
    for (size_t i = 0; i < count; i++)
        out_printf(o, ", %s%s: %s", is_optional(s, args, i) ? "? " : "", args[i]->name,
                   type_of(args[i]));
    if (stack)
        out_printf(o, ", ? %s: stack", stack->name);
    if (has_data(s))
        out_printf(o, ", ? data: data");
    out_printf(o, "}\n");
}

void script_schema_cddl(out *o)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    out_printf(o, "%sdocument = #6.55799(any-document) / any-document\nany-document =", cddl_head);
    for (size_t n = 0; n < count; n++)
        out_printf(o, "%s document-1.%d", n ? " /" : "", versions[n]);
    out_printf(o,
               "\nheader = #6.55799(any-header) / any-header\nany-header =\n  {trace: version, ? "
               "level: \"raw\"} /\n"
               "  {trace: version, level: \"meaning\", clock}\nversion =");
    for (size_t n = 0; n < count; n++)
        out_printf(o, "%s \"go 1.%d\"", n ? " /" : "", versions[n]);
    out_printf(o, "\n\n%s\n", cddl_values);
    for (size_t n = 0; n < count; n++) {
        out_printf(o,
                   "document-1.%d =\n  {trace: \"go 1.%d\", ? level: \"raw\", records: [* "
                   "record-1.%d]} /\n"
                   "  {trace: \"go 1.%d\", level: \"meaning\", clock, events: [* meaning-1.%d]}\n",
                   versions[n], versions[n], versions[n], versions[n], versions[n]);
        out_printf(o, "record-1.%d =", versions[n]);
        print_names(o, n, "\n  ", " /\n  ", "\n\n");
        out_printf(o, "meaning-1.%d = record-1.%d", versions[n], versions[n]);
        print_given(o, n, " /\n  ", " /\n  ");
        out_printf(o, "\n\n");
    }
    each_shape(o, cddl_event);
    each_shape(o, cddl_meant);
}

/* ---- JSON Schema ---------------------------------------------------------------------------- */

static const char json_head[] =
    "{\n"
    "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
    "\"title\": \"event script of gotrace\",\n"
    "\"description\": \"A JSON document as gotrace-script(5) describes it. Of JSON Lines the first "
    "one is #/$defs/header, the others are #/$defs/go1.N, or by meaning #/$defs/meaning1.N. Made "
    "from the event tables by gotrace dump --schema json.\",\n"
    "\"type\": \"object\",\n"
    "\"required\": [\"trace\"],\n"
    "\"additionalProperties\": false,\n";

/* Members of the head of a document or a sequence. */
static const char json_clock[] =
    "\"trace\": {\"$ref\": \"#/$defs/version\"}, \"level\": {\"enum\": [\"raw\", \"meaning\"]},\n"
    "  \"frequency\": {\"$ref\": \"#/$defs/number\"}, \"start\": {\"$ref\": \"#/$defs/number\"}, "
    "\"procs\": {\"$ref\": \"#/$defs/number\"},\n"
    "  \"tracer\": {\"enum\": [\"go\", \"gccgo\", \"go-2023\"]}, \"equal_ticks\": {\"enum\": "
    "[true, "
    "false, \"true\", \"false\"]},\n"
    "  \"monotonic\": {\"$ref\": \"#/$defs/number\"}, \"wall_seconds\": {\"$ref\": "
    "\"#/$defs/number\"}, \"wall_nanoseconds\": {\"$ref\": \"#/$defs/number\"}";

static const char json_if_meaning[] =
    "\"if\": {\"required\": [\"level\"], \"properties\": {\"level\": {\"const\": \"meaning\"}}}";

static const char json_no_clock[] =
    "\"frequency\": false, \"start\": false, \"procs\": false, \"tracer\": false, "
    "\"equal_ticks\": false, \"monotonic\": false, \"wall_seconds\": false, "
    "\"wall_nanoseconds\": false";

static const char json_values[] =
    "\"number\": {\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0, \"maximum\": "
    "9223372036854775807}, {\"type\": \"string\", \"pattern\": "
    "\"^([0-9]+|0[xX][0-9A-Fa-f]+)$\"}]},\n"
    "\"hex\": {\"type\": \"string\", \"pattern\": \"^([0-9A-Fa-f]{2})*$\"},\n"
    "\"pads\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/row-2\"}},\n"
    "\"data\": {\"type\": \"string\"},\n"
    "\"signed\": {\"anyOf\": [{\"type\": \"integer\"}, {\"type\": \"string\", \"pattern\": "
    "\"^(-?[0-9]+|0[xX][0-9A-Fa-f]+)$\"}]},\n"
    "\"time\": {\"anyOf\": [{\"type\": \"number\"}, {\"type\": \"string\", \"pattern\": "
    "\"^-?([0-9]+([.][0-9]*)?|[.][0-9]+)$\"}]},\n"
    "\"stack\": {\"type\": \"array\", \"items\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": "
    "\"object\", \"required\": [\"hex\"], \"additionalProperties\": false, \"properties\": "
    "{\"hex\": {\"$ref\": \"#/$defs/hex\"}}}]}},\n"
    "\"proc-state\": {\"anyOf\": [{\"enum\": [\"running\", \"idle\", \"syscall\", \"abandoned\"]}, "
    "{\"$ref\": \"#/$defs/number\"}]},\n"
    "\"goroutine-state\": {\"anyOf\": [{\"enum\": [\"runnable\", \"running\", \"syscall\", "
    "\"waiting\"]}, {\"$ref\": \"#/$defs/number\"}]},\n"
    "\"when\": {\"oneOf\": [{\"required\": [\"t\"]}, {\"required\": [\"ticks\"]}]},\n";

/* Members of each event of level meaning, after its name. */
static const char json_when[] = "\"raw\": {\"const\": false}, \"t\": {\"$ref\": \"#/$defs/time\"}, "
                                "\"ticks\": {\"$ref\": \"#/$defs/number\"}";

/* Print the type of an array of `width` numbers. */
static void json_row(out *o, size_t width)
{
    out_printf(o,
               "\"row-%zu\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/number\"}, "
               "\"minItems\": %zu, \"maxItems\": %zu},\n",
               width, width, width);
}

static void json_event(out *o, const shape *s, int version)
{
    out_printf(o, ",\n\"%s-1.%d\": {\"type\": \"object\", \"required\": [\"event\"", s->spec->name,
               version);
    for (size_t i = 0; i < s->arg_count; i++)
        if (s->args[i]->kind != GOTRACE_ARG_COUNT)
            out_printf(o, ", \"%s\"", s->args[i]->name);
    out_printf(
        o, "], \"additionalProperties\": false,\n  \"properties\": {\"event\": {\"const\": \"%s\"}",
        s->spec->name);
    for (size_t i = 0; i < s->arg_count; i++)
        out_printf(o, ", \"%s\": {\"$ref\": \"#/$defs/number\"}", s->args[i]->name);
    if (s->frame_values)
        out_printf(
            o, ", \"frames\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/row-%zu\"}}",
            s->frame_values);
    if (has_data(s))
        out_printf(o,
                   ", \"data\": {\"type\": \"string\"}, \"data_hex\": {\"$ref\": \"#/$defs/hex\"}");
    if (version < GOTRACE_FIRST_V2)
        out_printf(o, ", \"form\": {\"$ref\": \"#/$defs/number\"}");
    out_printf(o, ", \"pad\": {\"$ref\": \"#/$defs/pads\"}, \"raw\": {\"const\": true}}");
    if (has_data(s))
        out_printf(o,
                   ",\n  \"oneOf\": [{\"required\": [\"data\"]}, {\"required\": [\"data_hex\"]}]");
    out_printf(o, "}");
}

/* Print a member and the name of its type. */
static void json_member(out *o, const char *name, const char *type)
{
    out_printf(o, ", \"%s\": {\"$ref\": \"#/$defs/%s\"}", name, type);
}

static void json_meant(out *o, const shape *s, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS], *stack;
    size_t count = args_given(s, version, args, &stack);
    if (!is_given(s->spec))
        return;
    out_printf(o, ",\n\"%s-meant-1.%d\": {\"type\": \"object\", \"required\": [\"event\"",
               s->spec->name, version);
    for (size_t i = 0; i < count; i++)
        if (!is_optional(s, args, i))
            out_printf(o, ", \"%s\"", args[i]->name);
    out_printf(o,
               "], \"additionalProperties\": false, \"$ref\": \"#/$defs/when\",\n"
               "  \"properties\": {\"event\": {\"const\": \"%s\"}, %s",
               s->spec->name, json_when);
    json_member(o, "on_p", "signed");
    json_member(o, "on_m", "signed");
    json_member(o, "on_g", "number");
    for (const char *place = "pmg"; *place; place++)
        if (is_place(args, count, *place))
            out_printf(o, ", \"%c\": {\"$ref\": \"#/$defs/%s\"}", *place,
                       *place == 'g' ? "number" : "signed");
    for (size_t i = 0; i < count; i++) {
        json_member(o, args[i]->name, type_of(args[i]));
        if (args[i]->kind == GOTRACE_ARG_STRING)
            out_printf(o, ", \"%s_hex\": {\"$ref\": \"#/$defs/hex\"}", args[i]->name);
    }
    if (stack)
        json_member(o, stack->name, "stack");
    if (has_data(s)) {
        json_member(o, "data", "data");
        json_member(o, "data_hex", "hex");
    }
    out_printf(o, "}}");
}

static void json_sync(out *o)
{
    out_printf(o,
               ",\n\"Sync-meant\": {\"type\": \"object\", \"required\": [\"event\"], "
               "\"additionalProperties\": false, \"$ref\": \"#/$defs/when\",\n"
               "  \"properties\": {\"event\": {\"const\": \"Sync\"}, %s",
               json_when);
    json_member(o, "clock_t", "time");
    json_member(o, "clock_ticks", "number");
    json_member(o, "monotonic", "number");
    json_member(o, "wall_seconds", "number");
    json_member(o, "wall_nanoseconds", "number");
    out_printf(o, "}}");
}

/* Print the type of a line in a version: a record, or an event of level meaning. */
static void json_lines(out *o, size_t n, int version)
{
    out_printf(o, "\"go1.%d\": {\"anyOf\": [", version);
    print_names(o, n, "\n  {\"$ref\": \"#/$defs/", "\"},\n  {\"$ref\": \"#/$defs/", "\"}]},\n");
    out_printf(o,
               "\"meaning1.%d\": {\"if\": {\"required\": [\"raw\"], \"properties\": {\"raw\": "
               "{\"const\": true}}},\n  \"then\": {\"$ref\": \"#/$defs/go1.%d\"},\n  \"else\": "
               "{\"anyOf\": [",
               version, version);
    print_given(o, n, "\n  {\"$ref\": \"#/$defs/", "\"},\n  {\"$ref\": \"#/$defs/");
    out_printf(o, "\"}]}}");
}

void script_schema_json(out *o)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    out_printf(
        o,
        "%s\"properties\": {%s,\n  \"records\": {\"type\": \"array\"}, \"events\": {\"type\": "
        "\"array\"}},\n%s,\n",
        json_head, json_clock, json_if_meaning);
    out_printf(
        o,
        "\"then\": {\"required\": [\"events\"], \"properties\": {\"records\": false}},\n"
        "\"else\": {\"required\": [\"records\"], \"properties\": {\"events\": false, %s}},\n",
        json_no_clock);
    out_printf(o, "\"allOf\": [");
    for (size_t n = 0; n < count; n++)
        out_printf(
            o,
            "%s\n  {\"if\": {\"properties\": {\"trace\": {\"const\": \"go 1.%d\"}}}, \"then\": "
            "{\"properties\": {\"records\": {\"items\": {\"$ref\": \"#/$defs/go1.%d\"}},\n"
            "    \"events\": {\"items\": {\"$ref\": \"#/$defs/meaning1.%d\"}}}}}",
            n ? "," : "", versions[n], versions[n], versions[n]);
    out_printf(o, "],\n\"$defs\": {\n\"version\": {\"enum\": [");
    for (size_t n = 0; n < count; n++)
        out_printf(o, "%s\"go 1.%d\"", n ? ", " : "", versions[n]);
    out_printf(o,
               "]},\n\"header\": {\"type\": \"object\", \"required\": [\"trace\"], "
               "\"additionalProperties\": false,\n  \"properties\": {%s},\n  %s, \"then\": true, "
               "\"else\": {\"properties\": {%s}}},\n%s",
               json_clock, json_if_meaning, json_no_clock, json_values);
    json_row(o, 1);
    json_row(o, 2);
    json_row(o, 4);
    for (size_t n = 0; n < count; n++) {
        out_printf(o, "%s", n ? ",\n" : "");
        json_lines(o, n, versions[n]);
    }
    each_shape(o, json_event);
    each_shape(o, json_meant);
    json_sync(o);
    out_printf(o, "\n}\n}\n");
}
