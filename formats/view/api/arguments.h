/*
 * arguments.h - the arguments of a question, by name and type.
 *
 * The first argument that is wrong is kept, with what was found and what was expected; from then on
 * all functions do nothing. A function leaves the value as it is if there is no such argument, so
 * that it is the default.
 */
#ifndef VIEW_ARGUMENTS_H
#define VIEW_ARGUMENTS_H

#include "formats/view/api/api.h"

enum { ARGUMENT_MESSAGE = 320 };

typedef struct arguments {
    const view_argument *list;
    size_t count;
    uint32_t known; /* of the list, those that a function was asked for */
    bool wrong;
    char message[ARGUMENT_MESSAGE];
} arguments;

/* The list is borrowed. */
void arguments_init(arguments *a, const view_argument *list, size_t count);

/* Whether there is an argument of that name; if not, it is an error. */
bool arguments_need(arguments *a, const char *name);

/* A number from least to most. */
void arguments_number(arguments *a, const char *name, uint64_t least, uint64_t most, uint64_t *to);

/* A time or a duration in ns, which may be negative. */
void arguments_time(arguments *a, const char *name, int64_t *to);

/* One of count words: its index. */
void arguments_word(arguments *a, const char *name, const char *const *words, size_t count,
                    unsigned *to);

/* Numbers with commas between them, at most `most`, of which each is at most `highest`. Returns how
 * many; to has room for them. */
size_t arguments_numbers(arguments *a, const char *name, uint64_t highest, uint64_t *to,
                         size_t most);

/* The same of tracks, "KIND:ID,KIND:ID". */
size_t arguments_tracks(arguments *a, const char *name, view_track *to, size_t most);

/* Any text of less than size bytes, which is copied. */
void arguments_text(arguments *a, const char *name, char *to, size_t size);

/* Makes it an error, with that message. */
void arguments_refuse(arguments *a, const char *message, ...) __attribute__((format(printf, 2, 3)));

/* Makes it an error. The value that was found is added to the message. */
void arguments_reject(arguments *a, const char *name, const char *expected, ...)
    __attribute__((format(printf, 3, 4)));

/* An argument of which no function was asked is an error. Returns whether all are good. */
bool arguments_end(arguments *a);

#endif
