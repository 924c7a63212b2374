/*
 * json_place.h - finds the position of values in the text of a JSON document that jansson parsed,
 * because jansson does not record positions. The text must be well-formed; otherwise positions are
 * wrong, but memory accesses are still safe.
 */
#ifndef JSON_PLACE_H
#define JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_place {
    const char *at, *end;
    uint64_t line, column; /* from 1; columns count characters */
} json_place;

/* Skips white space and commas. */
void json_place_to_value(json_place *place);

/* Skips the opening bracket of an array or object. */
void json_place_enter(json_place *place);

/* Skips the value that starts here. */
void json_place_skip(json_place *place);

/* Moves from the start of an object to the value of that member; false, without moving, if there is
 * none. */
bool json_place_member(json_place *place, const char *name);

#endif
