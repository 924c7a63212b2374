/*
 * asking.h - ask the questions of the API of an index, and read the answers.
 */
#ifndef ASKING_H
#define ASKING_H

#include <jansson.h>

#include "formats/view/api/api.h"
#include "support.h"

typedef struct asked {
    view *view;
    view_api *api;
} asked;

/* The index of that trace; items: how many stretches a node of it has. */
asked ask_of(const blob *content, size_t items);
asked ask_of_sample(const char *name);
void asked_free(asked *a);

/* Asks "window from=0 until=9 tracks=0:1". */
view_reply ask(const asked *a, const char *question);

/* The JSON of an answer with that status. */
json_t *ask_json(const asked *a, unsigned status, const char *question);
__attribute__((format(printf, 3, 4))) json_t *ask_printf(const asked *a, unsigned status,
                                                         const char *question, ...);

/* Members of an object: a number, a text, and the id in it. */
long long member(const json_t *of, const char *name);
const char *text_of(const json_t *of, const char *name);
uint64_t id_of(const json_t *of);

/* The tracks that view_list found, those of a kind in the order of their ids. */
typedef struct listed {
    view_listed *list;
    size_t count, room;
} listed;

bool keep_track(void *list, const view_listed *t);

#endif
