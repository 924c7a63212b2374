/*
 * json_place.h - where values are in the text of a JSON document that was parsed before: jansson
 * keeps no places. The text is well-formed; where it is not, a place is wrong, and nothing worse.
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

/* Pass over white space and commas. */
void json_place_to_value(json_place *place);

/* Pass over the bracket that opens an array or an object. */
void json_place_enter(json_place *place);

/* Pass over the value that starts there. */
void json_place_pass(json_place *place);

/* Go from the start of an object to the value that it has under that name; false (and the place is
 * as before) where it has none. */
bool json_place_member(json_place *place, const char *name);

#endif
