/*
 * forge.h - traces made up byte by byte, good and hostile.
 */
#ifndef FORGE_H
#define FORGE_H

#include "core/events.h"
#include "support.h"

typedef struct forge {
    blob out;
    int version;
} forge;

/* Begin with the header of that version. */
forge forge_new(int version);

void forge_byte(forge *f, uint8_t byte);
void forge_varint(forge *f, uint64_t value);

/* A record as the version's tracer would write it: its values, time stamp and stack among them. */
void forge_record(forge *f, unsigned code, const uint64_t *values, size_t count);
#define FORGE(f, code, ...)                                                                        \
    forge_record(f, GOTRACE_V1_##code, (const uint64_t[]){__VA_ARGS__},                            \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

void forge_string(forge *f, uint64_t id, const void *bytes, size_t size);

/* The footer: a frequency. */
void forge_finish(forge *f);

/* Hostile traces of about that many bytes, each of which tries to make one part of a reader take
 * much memory or time. */
typedef struct hostile {
    const char *name;
    void (*make)(forge *f, size_t size);
    int version;
} hostile;

extern const hostile hostiles[]; /* ends with an entry without name */

#endif
