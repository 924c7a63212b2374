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

/* A part of the script that is not in the text. */
typedef struct json_gap {
    const char *at;                           /* where it was in the text; NULL: no further gap */
    uint64_t line, column;                    /* at its end */
    uint64_t start, start_line, start_column; /* its offset, line and column in the script */
} json_gap;

typedef struct json_place {
    const char *at, *end;
    uint64_t line, column; /* from 1; columns count characters */
    const json_gap *gaps;  /* that follow; NULL: none */
} json_place;

/* Skips white space and commas. */
void json_place_to_value(json_place *place);

/* Moves forward to that byte of the text. */
void json_place_to(json_place *place, const char *at);

/* Moves from the start of an object to the value of that member; false, without moving, if there is
 * none. */
bool json_place_member(json_place *place, const char *name);

#endif
