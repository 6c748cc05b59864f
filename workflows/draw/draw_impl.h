/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_DRAW_DRAW_IMPL_H
#define SMTUNE_WORKFLOWS_DRAW_DRAW_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workflows/draw/draw.h"

enum { DRAW_STATES = FLOW_SKIPPED + 1 };

/* A graph whose nodes stand for one step each, or for several that need the
 * same and are needed by the same. */
struct fold {
    struct graph *graph;
    struct fold_node *nodes; /* [graph_count] */
};

struct fold_node {
    size_t first, last;         /* steps of the drawing */
    size_t count;               /* of steps */
    size_t states[DRAW_STATES]; /* how many are in each */
    enum flow_state state;      /* of all together */
};

void fold_init(struct fold *fold, const struct drawing *drawing,
               bool is_folding);
void fold_clear(struct fold *fold);

/* What a line of text says behind a node's mark: name and note apart. */
void fold_name(const struct drawing *drawing, const struct fold_node *node,
               struct buf *out);
void fold_note(const struct drawing *drawing, const struct fold_node *node,
               struct buf *out);

/* Rows of rails for a folded graph. */
struct rail_row {
    size_t node;
    char *before, *after; /* what stands left and right of its mark */
    size_t columns;       /* of all */
};

struct rails {
    struct rail_row *rows; /* [graph_count] */
    size_t count;          /* that there are */
};

/* 0; -1 where there would be more than DRAW_RAILS_MAX side by side. */
int rails_init(struct rails *rails, const struct drawing *drawing,
               const struct fold *fold);
void rails_clear(struct rails *rails);

#endif
