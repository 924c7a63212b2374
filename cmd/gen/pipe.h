/*
 * pipe.h - a ring of blocks between the machine, which generates events, and the writer. Each takes
 * about as long as the other, so they run in parallel.
 */
#ifndef GEN_PIPE_H
#define GEN_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event, in one cache line. Strings and stacks live as long as the machine, and are passed by
 * number. */
typedef struct gen_record {
    uint64_t ticks;
    uint64_t goroutine; /* in whose context; 0: in none */
    uint64_t args[4];   /* in the event's order */
    uint32_t thread;    /* 0: on none */
    int16_t proc;       /* -1: on none */
    uint16_t stack; /* gen_stack_number, 0: none; of an event that has it beside its arguments */
    uint8_t event;  /* gen_event */
    uint8_t data;   /* gen_string */
} gen_record;

/* The ring is large enough for the two to be apart for a while, small enough for a cache. */
enum { GEN_BLOCKS = 8, GEN_BLOCK_RECORDS = 1024 };

typedef struct gen_pipe gen_pipe;

/* Takes what a block holds, in the order in which it happened; false: no more is wanted. */
typedef bool gen_take_fn(void *ctx, const gen_record *records, size_t count);
/* Fills blocks until it has no more, or no more is wanted. */
typedef void gen_fill_fn(void *ctx, gen_pipe *pipe);

/* For the one that fills: the block it has now holds so many records (0 the first time, when it has
 * none). Returns the next one, or NULL if no more is wanted. */
gen_record *gen_pipe_next(gen_pipe *pipe, size_t count);

typedef enum gen_pipe_end {
    GEN_PIPE_TAKEN,     /* all that there was */
    GEN_PIPE_UNWANTED,  /* until no more was wanted */
    GEN_PIPE_NO_MEMORY, /* nothing: it could not begin */
} gen_pipe_end;

/* Have one fill blocks, in a thread of its own if there can be one, and the other take them in this
 * one. Both have ended when it returns. */
gen_pipe_end gen_pipe_run(gen_fill_fn *fill, void *filler, gen_take_fn *take, void *taker);

#endif
