/* node.h - write the nodes of tree.h, and read them; used by the index alone. */
#ifndef VIEW_NODE_H
#define VIEW_NODE_H

#include "formats/view/tree.h"

/* Reads bytes of the file. */
bool levels_read(levels *l, uint64_t offset, void *to, size_t size);

/* Keeps the first failure. Returns false. */
bool levels_fail(levels *l, int error);

/* What is shorter than 2^this cannot be seen in a node. */
static inline unsigned node_shift(int64_t begin, int64_t end)
{
    const uint64_t ns = end > 0 && begin < end ? (uint64_t)end - (uint64_t)(begin > 0 ? begin : 0)
                                               : 0;
    return ns >> NODE_DETAIL ? 63 - (unsigned)__builtin_clzll(ns >> NODE_DETAIL) : 0;
}

/* The stretch that an item stands for. */
void level_stretch(const level *of, const level_item *item, view_stretch *s);

/* Appends a complete node to a level. */
void levels_add_node(levels *l, size_t level, const view_node *node);

/* Makes a node of that level from those below it that have no parent, and from the level's items.
 */
void node_merge(levels *l, size_t n, int64_t now);

/* Writes a directory: node_begin, for each track, ascending, node_begin_track, node_put for its
 * stretches and node_end_track, and node_end. */
typedef struct node_writer {
    levels *levels;
    const view_node *node;
    node_buffers *to;
    bool less;  /* with less detail */
    bool waits; /* nothing is written to the file before node_end, because another one is */
    uint8_t kind;
    node_track track;
    int64_t time;
    uint64_t flushed;    /* of the directory's bytes, those in the file */
    size_t before;       /* the size of the buffer when the track began */
    uint64_t stretches;  /* of the track */
    int64_t first, last; /* its time */
    stretch_merger merger;
    uint32_t counts[VIEW_KINDS];
} node_writer;

void node_begin(node_writer *w);
void node_begin_track(node_writer *w, uint8_t kind, uint64_t id, uint32_t group);
void node_put(node_writer *w, const view_stretch *s);
void node_end_track(node_writer *w);
void node_end(node_writer *w, node_directory *made);

/* A part of the file that was read. */
typedef struct node_buffer {
    unsigned char *bytes;
    size_t room;
    uint64_t offset;
    size_t size;
} node_buffer;

/* Bytes of the file, valid until the next call with that buffer; NULL on failure. Reads ahead. */
const unsigned char *node_read(levels *l, node_buffer *buffer, uint64_t offset, size_t size);

/* The tracks of a directory, in order. */
typedef struct node_cursor {
    levels *levels;
    const node_directory *of;
    uint32_t next, end; /* numbers of tracks */
    uint8_t kind;       /* of the current one; VIEW_KINDS: there are no more */
    node_track track;
    uint32_t size; /* of its bytes */
    node_buffer list, bytes;
} node_cursor;

/* Begins before the first track of those kinds; call node_next. */
void node_open(node_cursor *c, levels *l, const node_directory *of, view_kind first_kind,
               view_kind last_kind);
/* Begins before the first track of that kind with an id that is not less; false on failure. */
bool node_open_at(node_cursor *c, levels *l, const node_directory *of, view_kind kind, uint64_t id);
/* False on failure; at the end the kind is VIEW_KINDS. */
bool node_next(node_cursor *c);
/* The bytes of the current track's stretches; NULL on failure. */
const unsigned char *node_bytes(node_cursor *c);
void node_close(node_cursor *c);

/* Where the bytes of a track are. */
typedef struct node_found {
    uint64_t offset;
    size_t size;
    uint32_t group;
} node_found;

/* Returns false if the track is not there, or on failure. */
bool node_find(levels *l, const node_directory *of, view_kind kind, uint64_t id, node_found *found);

#endif
