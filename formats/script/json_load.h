/*
 * json_load.h - jansson's loading, with memory that may be refused.
 *
 * Where jansson (2.14) cannot make the text of a token longer it goes on without the byte, and then
 * copies behind the end of what it has when that byte was the one that ends a string. So a loading
 * to which memory is refused does not come back to it.
 */
#ifndef JSON_LOAD_H
#define JSON_LOAD_H

#include <jansson.h>
#include <stdbool.h>

/* A value is freed (json_decref) by the thread that loaded it. */

/* As json_loadb and json_load_callback. NULL with an empty text in *error: memory was refused. */
json_t *json_load_bytes(const char *bytes, size_t size, size_t flags, json_error_t *error);
json_t *json_load_from(json_load_callback_t give, void *ctx, size_t flags, json_error_t *error);

#endif
