/*
 * stack_views.h - how stacks are shown in the rows of a table, so that no two look alike.
 */
#ifndef ANALYSE_STACK_VIEWS_H
#define ANALYSE_STACK_VIEWS_H

#include "formats/analyse/stacks.h"

/* What is shown of a stack in a table, from the innermost frame on: as many frames as make its row
 * look different from all others, at least STACK_FRAMES and at most STACK_MOST_FRAMES. */
typedef struct stack_view {
    size_t frames; /* at most its depth */
    bool lines;    /* with lines: there is another stack of the same functions */
    bool folds;    /* of frames that stacks_run_end finds only the outermost one is shown; frames
                      counts all */
} stack_view;

enum { STACK_MOST_FRAMES = 64 };

/* A row. Those of different groups look different without their stacks. */
typedef struct stack_row {
    uint32_t group, stack;
} stack_row;

/* By index of the row, to be freed; NULL: memory was refused (*failed). folds: unless rows then
 * look the same. */
stack_view *stack_views(const stacks *s, const stack_row *rows, size_t count, bool folds,
                        bool *failed);

#endif
