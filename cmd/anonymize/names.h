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

/* What a name is used as in the trace: a name that Go itself has may stay only there. Any other
 * text is the user's: logs, tasks, regions, types, and strings to which nothing refers. */
enum names_role {
    NAMES_RUNTIME = 1,  /* why a goroutine waits or stops, or the world stops; a label */
    NAMES_FUNCTION = 2, /* of a frame */
    NAMES_FILE = 4,     /* of a frame */
    NAMES_STD_FILE = 8, /* NAMES_FILE, with functions of the runtime or standard library only */
};

/* Whether this is a function of the runtime or of the standard library. */
bool names_is_std(const char *name, size_t size);

/* Whether a function has a package: those that the compiler makes of several may be "_.name". */
bool names_has_package(const char *name, size_t size);

/* Returns the name that replaces this one, valid until the next call, or the name itself if it
 * stays. roles: names_role, of all its uses; 0: the user's. */
const char *names_replace(names *n, unsigned roles, const char *name, size_t *size);

/* Returns another PC whose varint has the same size. Different PCs remain different; 0, which means
 * none, stays. */
uint64_t names_shift_pc(const names *n, uint64_t pc);

/* known.c: whether this is the path of a package of the standard library; a reason or a label of
 * the runtime; a function or a file that the compiler or the linker makes. */
bool known_package(const char *path, size_t size);
bool known_reason(const char *text, size_t size);
bool known_symbol(const char *name, size_t size);

#endif
