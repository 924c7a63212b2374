/* dump.c - write the records or the events of a trace as an event script. */
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/progress.h"
#include "cmd/records.h"

typedef struct dump_options {
    settings common;
    const char *format, *level, *schema;
} dump_options;

enum { PIECE = 256 * 1024 };

typedef struct dump {
    input in;
    gotrace_decoder *decoder;
    const script_format *how;
    out *out;
    int version; /* 0 before the header is written */
    bool has_records;
    char *piece;
} dump;

const char *script_name(size_t n)
{
    return script_formats[n] ? script_formats[n]->name : NULL;
}

/* Write all records that the decoder has decoded. */
static gotrace_status write_records(dump *d)
{
    const gotrace_record *record;
    gotrace_status status;
    do {
        status = gotrace_decoder_next(d->decoder, &record);
        if (d->version == 0 && gotrace_decoder_version(d->decoder) != 0) {
            d->version = gotrace_decoder_version(d->decoder);
            d->how->begin(d->out, d->version);
        }
        if (status == GOTRACE_EVENT) {
            d->how->record(d->out, d->version, record, !d->has_records);
            d->has_records = true;
        }
    } while (status == GOTRACE_EVENT && !d->out->failed);
    return status;
}

/* Decode the file piece by piece. */
static gotrace_status decode(dump *d, gotrace_error *error)
{
    uint64_t offset = 0, size = gotrace_source_size(d->in.source);
    for (;;) {
        size_t got = 0;
        if (gotrace_source_read(d->in.source, offset, d->piece, PIECE, &got, error) < 0)
            return GOTRACE_ERROR;
        if (got == 0)
            gotrace_decoder_finish(d->decoder);
        else if (gotrace_decoder_feed(d->decoder, d->piece, got) < 0)
            break;
        offset += got;
        gotrace_status status = write_records(d);
        if (status != GOTRACE_NEED_INPUT || d->out->failed) {
            if (status != GOTRACE_ERROR)
                return status;
            break;
        }
        progress_update(offset, size);
    }
    *error = *gotrace_decoder_error(d->decoder);
    return GOTRACE_ERROR;
}

int records_dump(session *s, const script_format *how)
{
    int status = output_open(&s->output, s->set->output, how->binary);
    if (status != EXIT_SOUND)
        return status;
    dump d = {.how = how, .out = &s->output.out, .piece = malloc(PIECE)};
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    if (!d.piece) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (input_open(&d.in, s, input_path(s)) &&
        (gotrace_decoder_new(&d.in.config, &d.decoder, &error) < 0 || decode(&d, &error) < 0))
        findings_add(&d.in.found, &error);
    if (d.version != 0)
        how->end(d.out);
    gotrace_decoder_free(d.decoder);
    free(d.piece);
    return input_close(&d.in);
}

/* Write the events of the verb's FILE. */
static int events_dump(session *s, const script_format *how)
{
    int status = output_open(&s->output, s->set->output, how->binary);
    if (status != EXIT_SOUND)
        return status;
    input in;
    if (input_open_reader(&in, s, input_path(s))) {
        const script_dump_job dumping = {.source = in.source,
                                         .reader = in.reader,
                                         .limits = in.config.limits,
                                         .how = how,
                                         .out = &s->output.out};
        gotrace_error error = {0};
        if (script_dump_meaning(&dumping, &error) < 0)
            findings_add(&in.found, &error);
    }
    return input_close(&in);
}

static const char *level_name(size_t n)
{
    static const char *const names[] = {"raw", "meaning", NULL};
    return names[n];
}

static const char *schema_name(size_t n)
{
    static const char *const names[] = {"json", "cbor", NULL};
    return names[n];
}

static int write_schema(session *s, const script_format *of)
{
    if (s->file_count > 0) {
        diag_error("--schema reads no trace, and %s is given", s->files[0]);
        return EXIT_USAGE;
    }
    int status = output_open(&s->output, s->set->output, false);
    if (status == EXIT_SOUND)
        of->schema(&s->output.out);
    return status;
}

static int run_dump(session *s)
{
    const dump_options *set = (const dump_options *)s->set;
    if (set->schema)
        return write_schema(s, script_by_name(set->schema));
    const script_format *how = script_by_name(set->format);
    return strcmp(set->level, "meaning") == 0 ? events_dump(s, how) : records_dump(s, how);
}

static const dump_options defaults = {.format = "text", .level = "raw"};

static const option_spec options[] = {
    {0, "format", OPTION_CHOICE, "FORMAT", offsetof(dump_options, format), script_name,
     "encoding of the script (text)"},
    {0, "level", OPTION_CHOICE, "LEVEL", offsetof(dump_options, level), level_name,
     "records, or events in order (raw)"},
    {0, "schema", OPTION_CHOICE, "FORMAT", offsetof(dump_options, schema), schema_name,
     "write the formal schema of such scripts instead"},
    {.name = NULL},
};

const verb verb_dump = {
    .name = "dump",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "write the records of a trace as an event script",
    .details = "Level raw has the records in file order, so that 'gotrace synth' can\n"
               "reproduce the file byte for byte. Level meaning has the events in order, with\n"
               "times, strings and stacks, for reading and editing.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(dump_options),
    .limited = true,
    .run = run_dump,
};
