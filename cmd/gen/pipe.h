/*
 * pipe.h - a ring of blocks between the simulator, which generates events, and the writer. Both
 * take about the same time, so they run in parallel.
 */
#ifndef GEN_PIPE_H
#define GEN_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event, in one cache line. Strings and stacks are numbers that are valid as long as the
 * simulator. */
typedef struct gen_record {
    uint64_t ticks;
    uint64_t goroutine; /* the event's context; 0: none */
    uint64_t args[4];   /* in the order of the event's layout */
    uint32_t thread;    /* 0: none */
    int16_t proc;       /* -1: none */
    uint16_t stack;     /* gen_stack_number of the stack that is not an argument; 0: none */
    uint8_t event;      /* gen_event */
    uint8_t data;       /* gen_string */
} gen_record;

/* Large enough to absorb jitter of the two threads, small enough for the cache. */
enum { GEN_BLOCKS = 8, GEN_BLOCK_RECORDS = 1024 };

typedef struct gen_pipe gen_pipe;

/* Consumes a block's events, in order; false: stop. */
typedef bool gen_take_fn(void *ctx, const gen_record *records, size_t count);
/* Produces blocks until done, or until gen_pipe_next returns NULL. */
typedef void gen_fill_fn(void *ctx, gen_pipe *pipe);

/* For the producer: hands over the current block, which holds count records (0 in the first call,
 * when there is no block). Returns the next block, or NULL if the consumer has stopped. */
gen_record *gen_pipe_next(gen_pipe *pipe, size_t count);

typedef enum gen_pipe_end {
    GEN_PIPE_TAKEN,     /* every event was consumed */
    GEN_PIPE_STOPPED,   /* the consumer stopped */
    GEN_PIPE_NO_MEMORY, /* nothing was done */
} gen_pipe_end;

/* Runs fill in its own thread, if one can be created, and take in the calling thread. Both have
 * ended on return. */
gen_pipe_end gen_pipe_run(gen_fill_fn *fill, void *filler, gen_take_fn *take, void *taker);

#endif
