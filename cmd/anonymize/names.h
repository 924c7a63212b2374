/*
 * names.h - pseudonyms for the names in a trace.
 *
 * A pseudonym depends on the name and on a key: the same name has the same pseudonym in every trace
 * that is anonymized with the key, and without the key nobody can test a guess. Its parts are
 * the first 60 bits of HMAC-SHA-256 (RFC 2104) in base 32, after an x: "x4kz2mq7n5abc".
 */
#ifndef ANONYMIZE_NAMES_H
#define ANONYMIZE_NAMES_H

#include <nettle/hmac.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/analyse/pattern.h"

/* Size of the longest pseudonym. */
enum { NAMES_MAX = 512 };

typedef struct names {
    struct hmac_sha256_ctx mac; /* with the key, before the first byte */
    uint64_t shift;             /* of PCs */
    const pattern *keep;        /* names that stay; NULL: none */
    bool all;                   /* no other name stays */
    bool too_hard, no_memory;   /* a match reached a limit; it failed */
    char made[NAMES_MAX];
} names;

void names_init(names *n, const void *key, size_t size);

/* Whether this is a function of the runtime or of the standard library. */
bool names_is_std(const char *name, size_t size);

/* Whether a function has a package: those that the compiler makes of several may be "_.name". */
bool names_has_package(const char *name, size_t size);

/* Returns the name that replaces this one, valid until the next call, or the name itself if it
 * stays. of_std: it is the file of a function of the runtime or the standard library. */
const char *names_replace(names *n, const char *name, size_t *size, bool of_std);

/* The same for a type, whose package is the last word of its path: none stays but those of keep. */
const char *names_replace_type(names *n, const char *name, size_t *size);

/* Returns another PC whose varint has the same size. Different PCs remain different; 0, which means
 * none, stays. */
uint64_t names_shift_pc(const names *n, uint64_t pc);

/* known.c: whether this is the path of a package of the standard library, or a word of the
 * runtime: a reason to wait or to stop the world, a label. */
bool known_package(const char *path, size_t size);
bool known_word(const char *name, size_t size);

#endif
