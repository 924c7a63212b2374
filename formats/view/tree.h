/*
 * tree.h - where the stretches of all tracks are stored: a tree of nodes in a temporary file.
 *
 * A node is a time, from the end of the node before it to its own. Nodes of level 0 end when they
 * are full; some nodes of one level make one of the next, up to the root, whose time is that of the
 * trace. A stretch is stored in the lowest node in whose time it is as a whole. Each node also has
 * its tracks with less detail: what is shorter than a five-hundredth of its time, or less, is put
 * together (stretches.h). So a window of time is read from a few nodes: those whose detail can just
 * be seen, or the lowest ones, and from the nodes above them what is too long for those.
 *
 * A list of tracks is a directory: the ids, ascending for each kind, with the place of the bytes.
 * While a node is being filled, its stretches are in memory.
 */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

#include "formats/common/idmap.h"
#include "formats/view/stretches.h"

enum {
    LEVELS_MOST = 24,
    LEVEL_CHILDREN = 16,
    /* Stretches in memory of a node of level 0, of the other levels, and of these, those of several
     * intervals. */
    LEVEL_ITEMS = 256 * 1024,
    LEVEL_ABOVE = 64 * 1024,
    LEVEL_SUMS = 32 * 1024,
    LISTED_MOST = 128 * 1024, /* tracks in memory, to list them */
    NODE_DETAIL = 8, /* a node has up to 2^(NODE_DETAIL + 1) stretches of a track in less detail */
    FEW_STRETCHES = 64, /* at level 0, so many of a track are not stored with less detail */
};

/* A track in a directory. */
typedef struct node_track {
    uint64_t id;
    uint32_t at;    /* offset of its bytes in those of the directory */
    uint32_t group; /* and the bits TRACK_BEGINS, TRACK_ENDS */
} node_track;

/* The goroutine or task begins, or ends, in the time of the node: it has no other stretches. */
#define TRACK_BEGINS ((uint32_t)1 << 31)
#define TRACK_ENDS   ((uint32_t)1 << 30)
#define TRACK_GROUP  (TRACK_ENDS - 1)

typedef struct node_directory {
    uint64_t bytes, list;           /* offsets in the file: of the stretches, and the node_tracks */
    uint32_t size;                  /* of the bytes */
    uint32_t first[VIEW_KINDS + 1]; /* the first track of each kind; the last is their number */
} node_directory;

/* A directory that is being made. */
typedef struct node_buffers {
    view_bytes bytes;
    node_track *list;
    size_t count, room;
} node_buffers;

typedef struct view_node {
    int64_t begin, end;
    size_t first, children; /* nodes of the level below */
    unsigned shift;         /* what is shorter than 2^shift is put together */
    node_directory own;     /* as they are */
    node_directory less;    /* with less detail */
} view_node;

/* A stretch of a track, in memory. */
typedef struct level_item {
    int64_t begin, end;
    uint64_t id, other; /* several: other is the index of its sums */
    uint32_t reason, stack, group;
    uint8_t kind, state;
    bool several;
} level_item;

typedef struct level_sums {
    uint64_t count;
    int64_t ns[DO_KINDS];
} level_sums;

typedef struct level {
    level_item *items;
    size_t count, room;
    level_sums *sums;
    size_t sum_count, sum_room;
    int64_t begin; /* of the node that is being filled; INT64_MIN: of the first one */
    view_node *nodes;
    size_t node_count, node_room;
    size_t with_parent; /* of the nodes, those that have one */
} level;

/* What a user keeps for each track, to find it in the node that is being filled. Zero at first. */
typedef struct level_place {
    uint64_t node;
    uint32_t track;
} level_place;

/* A track of the node of level 0 that is being filled. */
typedef struct level_track {
    uint64_t id;
    uint32_t group, count;
    uint8_t kind;
} level_track;

typedef struct levels {
    level level[LEVELS_MOST];
    size_t most_items, most_above, most_sums; /* LEVEL_*; tests have less, */
    size_t most_listed;                       /* LISTED_MOST; 2 or more */
    level_track *tracks;
    size_t track_count, track_room;
    uint32_t *track_of; /* of each item of level 0, the number of its track */
    size_t track_of_room;
    uint32_t *order; /* of the items, by track */
    size_t order_room;
    uint64_t node; /* the number of the node of level 0 that is being filled, from 1 on */
    node_buffers own, less;
    int fd;
    uint64_t written;
    bool crowded; /* a node of another level is full */
    int error;    /* errno of the first failure; afterwards nothing is stored */
} levels;

#endif
