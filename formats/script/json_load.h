/*
 * json_load.h - loads JSON with jansson within memory that is reserved beforehand.
 *
 * Jansson 2.14 ignores a failed allocation while it extends the text of a token: it drops the byte
 * and, if that was the terminator, later reads beyond the end. So no allocation may fail within
 * jansson. The memory that it can need for a piece of text is reserved before it gets the piece.
 */
#ifndef JSON_LOAD_H
#define JSON_LOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The memory of a loaded value. Zeroed: empty. */
typedef struct json_memory {
    struct json_chunk *chunks; /* the latest, from which memory is taken, first */
    size_t used;               /* bytes taken */
    bool exceeded;             /* a block was not reserved; must not happen */
} json_memory;

/* A text; json_load_text changes it to what is left. */
typedef struct json_text {
    const char *before; /* a few bytes that are read first; NULL: none */
    const char *bytes;
    size_t size;
    bool ended; /* more bytes than there are were needed */
} json_text;

/* Like json_loadb. NULL with an empty text in *error: memory was refused. The value must be used in
 * this thread. It is freed by the next load into that memory; json_decref has no effect. */
json_t *json_load_text(json_memory *memory, json_text *text, size_t flags, json_error_t *error);

void json_memory_free(json_memory *memory);

#endif
