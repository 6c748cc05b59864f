/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_STEP_HEAP_H
#define SMTUNE_WORKFLOWS_STEP_HEAP_H

#include <stddef.h>

/*
 * A binary heap of steps, the one of the lowest rank first, from which any can
 * be taken. Several heaps share the arrays of ranks and places, because a step
 * is in one of them at most.
 */
struct step_heap {
    const size_t *rank; /* of each step; all differ */
    size_t *place;      /* of each step in its heap */
    size_t *items;      /* [count] steps */
    size_t count, capacity;
};

/* A heap that is all zero but for rank and place is an empty one. */
void step_heap_clear(struct step_heap *heap);
void step_heap_add(struct step_heap *heap, size_t step);
void step_heap_remove(struct step_heap *heap, size_t step);

#endif
