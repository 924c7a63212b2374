/*
 * expression.h - what `gotrace find` looks for, as the user writes it.
 *
 * An expression is a test on one moment: a stretch of time of one kind, such as a wait of a
 * goroutine. `and` never combines two moments, so that a reader of an expression can predict what
 * it finds; during (EXPR) does. gotrace-find(1) has the grammar and the meaning. Parsing does not
 * depend on a trace; moments.h applies an expression to one.
 *
 * The main expression and each during (EXPR) are queries. A query is code for a stack of verdicts,
 * so that testing a moment needs no recursion, whatever the expression.
 */
#ifndef ANALYSE_EXPRESSION_H
#define ANALYSE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/analyse/pattern.h"

/* What may follow the name of a kind in parentheses, or (TAKES_PATTERN) after a tilde. */
typedef enum moment_takes {
    TAKES_NOTHING,
    TAKES_NAME,    /* a string: the name or the reason of the moment */
    TAKES_REASON,  /* the same, or the word sync or network */
    TAKES_PATTERN, /* a regular expression: of the message, or of where goroutines start */
} moment_takes;

/* What a comparison compares. */
typedef enum moment_measure {
    MEASURE_NOTHING,
    MEASURE_DURATION,
    MEASURE_COUNT, /* a level: the moment lasts while the comparison holds */
    MEASURE_SIZE,  /* the same, in bytes */
} moment_measure;

/* The kinds of moments. Those of the first line are the states of goroutines. */
#define MOMENT_KINDS(X)                                                                            \
    X(RUN, "run", TAKES_NOTHING, MEASURE_DURATION)                                                 \
    X(SCHED, "sched", TAKES_NOTHING, MEASURE_DURATION)                                             \
    X(WAIT, "wait", TAKES_REASON, MEASURE_DURATION)                                                \
    X(SYSCALL, "syscall", TAKES_NOTHING, MEASURE_DURATION)                                         \
    X(STW, "stw", TAKES_NAME, MEASURE_DURATION)                                                    \
    X(GC, "gc", TAKES_NOTHING, MEASURE_DURATION)                                                   \
    X(TASK, "task", TAKES_NAME, MEASURE_DURATION)                                                  \
    X(REGION, "region", TAKES_NAME, MEASURE_DURATION)                                              \
    X(SILENCE, "silence", TAKES_NOTHING, MEASURE_DURATION)                                         \
    X(LOG, "log", TAKES_PATTERN, MEASURE_NOTHING)                                                  \
    X(GOROUTINES, "goroutines", TAKES_PATTERN, MEASURE_COUNT)                                      \
    X(HEAP, "heap", TAKES_NOTHING, MEASURE_SIZE)

typedef enum moment_kind {
#define MOMENT_NUMBER(name, word, takes, measure) MOMENT_##name,
    MOMENT_KINDS(MOMENT_NUMBER) MOMENT_KIND_COUNT
#undef MOMENT_NUMBER
} moment_kind;

#define MOMENT_BIT(kind) (1U << (kind))
#define MOMENT_STATES                                                                              \
    (MOMENT_BIT(MOMENT_RUN) | MOMENT_BIT(MOMENT_SCHED) | MOMENT_BIT(MOMENT_WAIT) |                 \
     MOMENT_BIT(MOMENT_SYSCALL))
/* They have the first numbers. */
enum { MOMENT_STATE_COUNT = MOMENT_SYSCALL + 1 };
#define MOMENT_LEVELS (MOMENT_BIT(MOMENT_GOROUTINES) | MOMENT_BIT(MOMENT_HEAP))

/* Its word in expressions. */
const char *moment_name(moment_kind kind);

typedef enum compare { COMPARE_NONE, COMPARE_GT, COMPARE_GE, COMPARE_LT, COMPARE_LE } compare;

/* A kind, with what restricts it. */
typedef struct expression_term {
    moment_kind kind;
    compare compare;
    uint64_t bound;     /* ns, or a number, or bytes */
    char *text;         /* name or reason; NULL: any */
    bool sync, network; /* a class of reasons */
    size_t pattern;     /* number of a pattern + 1; 0: none */
} expression_term;

typedef struct expression_pattern {
    pattern *pattern;
    size_t at, size; /* where it is in the expression */
} expression_pattern;

typedef enum verdict { VERDICT_FALSE, VERDICT_TRUE, VERDICT_UNKNOWN } verdict;

typedef enum op_code {
    OP_TERM,      /* of that number */
    OP_FUNCTION,  /* the pattern of that number */
    OP_STACK,     /* the same */
    OP_GOROUTINE, /* its id is the number */
    OP_DURING,    /* the query of that number */
    OP_NOT,
    OP_AND,
    OP_OR,
    OP_UNLESS_TRUE,  /* and the code until there, unless the verdict so far decides */
    OP_UNLESS_FALSE, /* the same */
} op_code;

typedef struct expression_op {
    op_code code;
    uint64_t number;
} expression_op;

typedef struct expression_query {
    expression_op *code;
    size_t count, room;
    unsigned kinds; /* MOMENT_BIT: the moments that it is a test on: those that it names other than
                       in a not; if there are none, the states of goroutines */
    bool during;    /* it has a during: its verdict may need what comes later */
} expression_query;

typedef struct expression {
    const char *text;          /* borrowed */
    expression_query *queries; /* the main one first; the queries in one have higher numbers */
    expression_term *terms;
    expression_pattern *patterns;
    size_t query_count, query_room, term_count, term_room, pattern_count, pattern_room;
    unsigned kinds; /* of all queries */
} expression;

enum {
    EXPRESSION_NESTING = 100,
    EXPRESSION_TESTS = 1000,
    EXPRESSION_PATTERNS = 64,
    EXPRESSION_DURINGS = 16
};

typedef struct expression_error {
    size_t at;         /* offset in the text */
    char message[240]; /* may quote any bytes of the text; empty: memory was refused */
    char word[24];     /* not known; empty: that is not the fault */
} expression_error;

/* Parses an expression, which is borrowed. False: the error says why. Free it in any case. */
bool expression_parse(expression *x, const char *text, expression_error *error);
void expression_free(expression *x);

/* The column of an offset in a text, from 1 on, in characters. */
size_t expression_column(const char *text, size_t at);

/* The n-th word that can begin a test; NULL past the last. */
const char *expression_word(size_t n);

/* Tests a query with the verdicts that test returns for all operations but NOT, AND and OR. */
verdict expression_test(const expression_query *q,
                        verdict (*test)(void *ctx, const expression_op *op), void *ctx);

#endif
