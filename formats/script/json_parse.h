/*
 * json_parse.h - JSON in memory: a value as a list of nodes, each before those that it contains.
 *
 * A member of an object is two nodes: its name, a string, and its value.
 */
#ifndef JSON_PARSE_H
#define JSON_PARSE_H

#include "formats/formats.h"

typedef enum json_kind {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
} json_kind;

typedef struct json_value {
    json_kind kind;
    bool escaped;   /* of a string: bytes is a copy without escapes */
    size_t span;    /* number of nodes of this value */
    const char *at; /* its first byte in the text */
    union {
        struct {
            const char *bytes; /* of a string; not terminated */
            size_t size;
        };
        int64_t integer;
        double real;
    };
} json_value;

/* Memory that is reused for one value after another; all zeros is an empty tree. */
typedef struct json_tree {
    json_value *values; /* the first is the root */
    size_t count, capacity;
    char *decoded; /* strings that have escapes in the text */
    size_t decoded_size, decoded_capacity;
    const char *end; /* the byte after the root's last one in the text */
} json_tree;

typedef enum json_extent {
    JSON_ALONE,   /* an object or array, which must be the whole text */
    JSON_SKIM,    /* an object or array; elements of arrays in it are checked, but not stored */
    JSON_ELEMENT, /* any value */
} json_extent;

typedef enum json_fault {
    JSON_WRONG,
    JSON_CUT, /* the text ends too early */
    JSON_NOT_UTF8,
    JSON_TOO_BIG, /* an integer above 2^63 - 1 */
} json_fault;

typedef struct json_error {
    json_fault fault;
    char text[160]; /* empty: memory was refused; the job has the error */
    const char *at; /* where reading ended */
} json_error;

struct script_job;

/* Parses the value at the start of a text. GOTRACE_ERROR: see error. */
gotrace_status json_parse(struct script_job *job, json_tree *tree, const char *text, size_t size,
                          json_extent extent, json_error *error);
void json_free(struct script_job *job, json_tree *tree);

/* The node after a value and all that it contains. */
static inline const json_value *json_after(const json_value *value)
{
    return value + value->span;
}

/* The node of a member's name, which its value follows; NULL if there is none. */
const json_value *json_member(const json_value *object, const char *name);

bool json_is(const json_value *string, const char *text);

/* A place in a text, counted from 1; columns are characters. */
typedef struct json_place {
    const char *at;
    uint64_t line, column;
} json_place;

void json_place_move(json_place *place, const char *to);

#endif
