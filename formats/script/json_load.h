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

/* The memory of loaded values. Zeroed: empty. */
typedef struct json_memory {
    struct json_chunk *chunks; /* the latest, from which memory is taken, first */
    size_t used, large;        /* bytes taken, and those of them in large blocks */
    bool exceeded;             /* a block was not reserved; must not happen */
} json_memory;

/* Like json_load_callback, but give may fail by returning 0 and recording the reason in ctx. NULL
 * with an empty text in *error: memory was refused. The values must be used in this thread. They
 * are freed with the memory; json_decref has no effect. */
json_t *json_load_from(json_memory *memory, json_load_callback_t give, void *ctx, size_t flags,
                       json_error_t *error);

/* Like json_loadb, likewise. */
json_t *json_load_bytes(json_memory *memory, const char *bytes, size_t size, size_t flags,
                        json_error_t *error);

/* Frees the values. Keeps some memory for the next load. */
void json_memory_clear(json_memory *memory);
void json_memory_free(json_memory *memory);

#endif
