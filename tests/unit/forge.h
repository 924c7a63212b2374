/*
 * forge.h - build traces record by record, valid and hostile ones.
 */
#ifndef FORGE_H
#define FORGE_H

#include "core/events.h"
#include "support.h"

typedef struct forge {
    blob out;
    int version;
} forge;

/* Start a trace with the header of that version. */
forge forge_new(int version);

void forge_byte(forge *f, uint8_t byte);
void forge_varint(forge *f, uint64_t value);

/* Append a record as the version's tracer writes it. values: all of them, including time delta and
 * stack. */
void forge_record(forge *f, unsigned code, const uint64_t *values, size_t count);
#define FORGE(f, code, ...)                                                                        \
    forge_record(f, GOTRACE_V1_##code, (const uint64_t[]){__VA_ARGS__},                            \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

void forge_string(forge *f, uint64_t id, const void *bytes, size_t size);

/* Append the footer: a frequency. */
void forge_finish(forge *f);

/* Hostile traces of about `size` bytes; each is made to use much memory or time in one part of a
 * reader. */
typedef struct hostile {
    const char *name;
    void (*make)(forge *f, size_t size);
    int version;
} hostile;

extern const hostile hostiles[]; /* ends with an entry without name */

#endif
