/* pattern.c - PCRE2, without its compiler to machine code, which does not enforce all limits. */
#include "formats/analyse/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
    LONGEST = 4096,  /* bytes of a pattern */
    NESTING = 100,   /* of parentheses */
    STEPS = 1000000, /* of a match, about 20 ms */
    DEPTH = 100000,  /* of backtracking */
    HEAP = 16 * 1024 /* KiB of a match */
};

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

void pattern_free(pattern *p)
{
    if (!p)
        return;
    pcre2_match_data_free(p->data);
    pcre2_match_context_free(p->limits);
    pcre2_code_free(p->code);
    free(p);
}

static pcre2_code *compile(const char *text, char *message, size_t room, size_t *column)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    PCRE2_SIZE at = 0;
    int error = PCRE2_ERROR_NOMEMORY;
    pcre2_code *code = NULL;
    if (context) {
        pcre2_set_parens_nest_limit(context, NESTING);
        code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                             PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &error,
                             &at, context);
    }
    pcre2_compile_context_free(context);
    *column = at + 1;
    /* PCRE2 has two numbers for it. */
    enum { COMPILE_NO_MEMORY = 121 };
    if (!code && error != PCRE2_ERROR_NOMEMORY && error != COMPILE_NO_MEMORY)
        pcre2_get_error_message(error, (PCRE2_UCHAR *)message, room);
    return code;
}

pattern *pattern_new(const char *text, char *message, size_t room, size_t *column)
{
    pattern *p = calloc(1, sizeof *p);
    message[0] = '\0';
    if (!p)
        return NULL;
    /* PCRE2's own message does not have the limit. */
    if (strlen(text) > LONGEST) {
        snprintf(message, room, "it has more than %d bytes", LONGEST);
        *column = 1;
    } else {
        p->code = compile(text, message, room, column);
    }
    if (p->code) {
        p->data = pcre2_match_data_create(1, NULL);
        p->limits = pcre2_match_context_create(NULL);
    }
    if (!p->data || !p->limits) {
        pattern_free(p);
        return NULL;
    }
    pcre2_set_match_limit(p->limits, STEPS);
    pcre2_set_depth_limit(p->limits, DEPTH);
    pcre2_set_heap_limit(p->limits, HEAP);
    return p;
}

pattern_result pattern_match(const pattern *p, const char *text, size_t size)
{
    int result = pcre2_match(p->code, (PCRE2_SPTR)(size ? text : ""), size, 0, 0, p->data,
                             p->limits);
    switch (result) {
    case PCRE2_ERROR_NOMATCH: return PATTERN_DIFFERS;
    case PCRE2_ERROR_NOMEMORY: return PATTERN_NO_MEMORY;
    /* 0: it matches, and the match data is too small for its parts. */
    default: return result >= 0 ? PATTERN_MATCHES : PATTERN_TOO_HARD;
    }
}
