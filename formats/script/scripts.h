/* scripts.h - event scripts: the records of a file in another encoding, and back. */
#ifndef SCRIPTS_H
#define SCRIPTS_H

#include <stdio.h>

#include "formats/common/out.h"

/* An event or the head of a script by meaning: see script.h. */
typedef struct script_event script_event;

/* An encoding of event scripts: text, json, jsonl, cbor. All can represent the same raw records and
 * the same events by meaning. */
typedef struct script_format {
    const char *name;
    const char *const *extensions;
    const char *summary;
    bool binary; /* must not go to a terminal */
    /* Writes a script: begin, record for each record, end. The only state is in out. */
    void (*begin)(out *o, int version);
    void (*record)(out *o, int version, const gotrace_record *record, bool first);
    void (*end)(out *o);
    /* The same for a script by meaning; finish with end. */
    void (*head)(out *o, int version, const script_event *head);
    void (*event)(out *o, const script_event *event, bool first);
    void (*schema)(out *o); /* writes a formal schema of the encoding; NULL: it has none */
} script_format;

extern const script_format *const script_formats[]; /* ends with NULL */
const script_format *script_by_name(const char *name);

/* A script by meaning: all remaining events of the reader, and the data batches of experiments,
 * which are read from the source. */
typedef struct script_dump_job {
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_limits *limits;
    const script_format *how;
    out *out;
} script_dump_job;

/* Writes the script. Returns GOTRACE_END, or GOTRACE_ERROR and *error when reading failed.
 * out_flush reports a failed write. */
gotrace_status script_dump_meaning(const script_dump_job *dumping, gotrace_error *error);

/* An error in a script, with its position there. */
typedef struct script_error {
    uint64_t line;       /* from 1; 0: none */
    uint64_t column;     /* from 1; 0: unknown */
    uint64_t offset;     /* CBOR: byte offset from 0; else GOTRACE_NO_OFFSET */
    uint64_t event;      /* index of the event, from 0 */
    gotrace_error error; /* rule usage, or from encoder or system; message without position */
} script_error;

typedef struct script_options {
    bool force; /* also write events by meaning that the recorded state does not allow */
    /* Called for each error of the script, in order, except errors that follow from an earlier one.
     * NULL: stop at the first error. */
    void (*report)(void *ctx, const script_error *error);
    void *report_ctx;
} script_options;

/* Reads a script (text, JSON, JSON Lines or CBOR, recognised by its first bytes) and writes the
 * trace that it describes. Text and JSON Lines are read line by line, a JSON document event by
 * event and CBOR item by item, in bounded memory. A JSON document is read twice, so its input must
 * be seekable. After an error nothing more is written; *error is the first error of the script or
 * an error of the system. options NULL: none. */
gotrace_status script_synthesize(FILE *input, gotrace_write_fn write, void *ctx,
                                 const gotrace_config *config, const script_options *options,
                                 script_error *error);

#endif
