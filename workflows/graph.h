/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_GRAPH_H
#define SMTUNE_WORKFLOWS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which steps need which: a directed graph. Steps are numbers, 0, 1, 2 ... in
 * the order of their file. All of it is in O(steps + needs). Both directions
 * are indexed at the first question behind a graph_add(); what points into
 * the index is good until the next.
 */

struct graph;

struct graph *graph_create(size_t count);
void graph_destroy(struct graph *graph);
/* `step` starts after `need`. Said twice, it counts once. */
void graph_add(struct graph *graph, size_t step, size_t need);

size_t graph_count(const struct graph *graph);
/* What a step needs, in the order in which that was said; *count of them. */
const size_t *graph_needs(const struct graph *graph, size_t step,
                          size_t *count);
/* What needs it, in the order of the file; *count of them. */
const size_t *graph_needed_by(const struct graph *graph, size_t step,
                              size_t *count);

/*
 * Puts all steps into order[count], each behind what it needs: of those whose
 * needs are all there the first of the file is next (Kahn 1962). Returns how
 * many steps that are; fewer than there are where some need each other in a
 * circle.
 */
size_t graph_order(const struct graph *graph, size_t *order);
/*
 * A shortest circle through the first step that is in one (found by Tarjan's
 * components, 1972): each needs the next, the last the first. Returns its
 * length, 0 where there is none; the steps go to *circle, which the caller
 * frees.
 */
size_t graph_circle(const struct graph *graph, size_t **circle);

/* Sets marks[s] for each step that `step` needs, near or far; the others stay.
 * What is marked before is taken to be done with, and gone no further from, so
 * that many steps can be asked about in one pass. */
void graph_mark_ancestors(const struct graph *graph, size_t step, bool *marks);
/* And for each that needs it. */
void graph_mark_descendants(const struct graph *graph, size_t step,
                            bool *marks);

#endif
