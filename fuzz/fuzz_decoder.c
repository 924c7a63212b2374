/*
 * fuzz_decoder.c - the streaming decoder gives the same records, problems and error for all
 * divisions of its input into pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"

typedef struct outcome {
    uint64_t records, digest, problems;
    gotrace_status status;
    gotrace_error error;
} outcome;

static void add(outcome *o, const void *data, size_t size)
{
    digest_write(&o->digest, data, size);
}

static void add_record(outcome *o, const gotrace_record *record)
{
    add(o, &record->spec->code, sizeof record->spec->code);
    add(o, &record->offset, sizeof record->offset);
    add(o, &record->length, sizeof record->length);
    add(o, &record->form, sizeof record->form);
    add(o, record->args, record->arg_count * sizeof *record->args);
    add(o, record->widths, record->width_count);
    add(o, record->data, record->data_size);
    REQUIRE(record->index >= o->records);
    o->records++;
}

/* The size of the next piece. most: 1, a limit for random sizes, or the whole input. */
static size_t piece(uint64_t *state, size_t most, size_t left)
{
    size_t size = most == 1 ? 1 : (size_t)(fuzz_random(state) % most);
    return size < left ? size : left;
}

static outcome decode(const uint8_t *data, size_t size, size_t most)
{
    outcome o = {.digest = 14695981039346656037u};
    gotrace_config config = fuzz_config(&o.problems);
    gotrace_decoder *decoder;
    const gotrace_record *record;
    uint64_t state = fuzz_seed(data, size);
    size_t at = 0;
    bool finished = false;
    REQUIRE(gotrace_decoder_new(&config, &decoder, NULL) == GOTRACE_OK);
    for (;;) {
        o.status = gotrace_decoder_next(decoder, &record);
        if (o.status == GOTRACE_EVENT) {
            add_record(&o, record);
        } else if (o.status != GOTRACE_NEED_INPUT) {
            break;
        } else if (at == size) {
            REQUIRE(!finished);
            gotrace_decoder_finish(decoder);
            finished = true;
        } else {
            size_t length = piece(&state, most, size - at);
            /* a copy, freed before the next piece: the decoder must not use it any longer */
            uint8_t *copy = malloc(length + 1);
            REQUIRE(copy != NULL);
            memcpy(copy, data + at, length);
            at += length;
            REQUIRE(gotrace_decoder_feed(decoder, copy, length) == GOTRACE_OK);
            while ((o.status = gotrace_decoder_next(decoder, &record)) == GOTRACE_EVENT)
                add_record(&o, record);
            free(copy);
            if (o.status != GOTRACE_NEED_INPUT)
                break;
        }
    }
    REQUIRE(o.status == GOTRACE_END || o.status == GOTRACE_ERROR);
    REQUIRE(gotrace_decoder_next(decoder, &record) == o.status);
    if (o.status == GOTRACE_ERROR)
        o.error = *gotrace_decoder_error(decoder);
    gotrace_decoder_free(decoder);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 5, 70, 5000};
    outcome whole = decode(data, size, SIZE_MAX);
    for (unsigned i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (!fuzz_turn(data, size, i, sizeof pieces / sizeof *pieces))
            continue;
        outcome o = decode(data, size, pieces[i]);
        REQUIRE(o.status == whole.status);
        REQUIRE(o.records == whole.records);
        REQUIRE(o.digest == whole.digest);
        REQUIRE(o.problems == whole.problems);
        REQUIRE(memcmp(&o.error, &whole.error, sizeof o.error) == 0);
    }
    return 0;
}
