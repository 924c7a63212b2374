/*
 * json_load.h - jansson's load functions, for use when allocations may fail.
 *
 * Jansson 2.14 ignores a failed allocation while it extends the text of a token: it drops the byte
 * and, if that was the terminator, later reads beyond the end. So a failed allocation must not
 * return to jansson.
 */
#ifndef JSON_LOAD_H
#define JSON_LOAD_H

#include <jansson.h>
#include <stdbool.h>

/* Free a value (json_decref) in the thread that loaded it. */

/* Like json_loadb and json_load_callback. NULL with an empty text in *error: memory was refused. */
json_t *json_load_bytes(const char *bytes, size_t size, size_t flags, json_error_t *error);
json_t *json_load_from(json_load_callback_t give, void *ctx, size_t flags, json_error_t *error);

#endif
