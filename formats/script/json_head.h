/*
 * json_head.h - the first object of a JSON script, without the contents of its arrays: the header
 * of a document or of JSON Lines.
 */
#ifndef JSON_HEAD_H
#define JSON_HEAD_H

#include "formats/script/json_load.h"
#include "formats/script/script.h"

/* Maximum size of the text. */
enum { JSON_HEAD_MAX = 64 << 10 };

/* Zeroed: empty. */
typedef struct json_head {
    char *text; /* malformed or cut off if the script is */
    size_t size, capacity;
    bool too_large; /* the text is only the beginning */
    json_place place;
    json_gap *gaps; /* the contents of the arrays, then one without `at`; NULL: none */
    size_t gap_count, gap_capacity;
    json_memory memory; /* of the loaded object */
} json_head;

/* Reads the object at the read position up to its end. */
gotrace_status json_head_read(script_job *job, json_head *head);

/* The contents of an array that is a member of the loaded object. */
const json_gap *json_head_gap(const json_head *head, json_t *object, const json_t *array);

void json_head_free(script_job *job, json_head *head);

/* Consumes bytes of the input. */
void json_consume(script_input *in, size_t size);

/* Skips white space. *next: the byte that follows; 0 at the end of the script. */
gotrace_status json_skip_space(script_job *job, char *next);

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

#endif
