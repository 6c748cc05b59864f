/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_DRAW_DRAW_H
#define SMTUNE_WORKFLOWS_DRAW_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "workflows/flow.h"
#include "workflows/graph.h"

struct buf;

/*
 * A picture of a workflow: of its file, or with states of a run, as it is now.
 * Whoever wants one fills a struct drawing; what it points to is borrowed. Any
 * bytes may stand in names: each format escapes them.
 */

enum draw_kind {
    DRAW_TASK,
    DRAW_EXPERIMENT,
    DRAW_WORKFLOW,
    DRAW_FAIL,
    DRAW_JOIN /* nothing of its own: what a group is waited for by */
};

struct draw_node {
    const char *name;
    const char *detail; /* a few words more, "4 GPUs, 1h"; or NULL */
    enum draw_kind kind;
    enum flow_when when;
    bool is_final;  /* it waits for all steps that are not, without a line */
    int64_t copies; /* -1: not known before it begins */
    /* Where the drawing has states. */
    enum flow_state state;
    int64_t running, succeeded, failed; /* copies; flow_counts.started ... */
};

struct drawing {
    const char *title;             /* the workflow's or the run's name */
    const struct graph *graph;     /* without circles */
    const struct draw_node *nodes; /* [graph_count] */
    bool has_states;
    const char *active; /* the word for active steps; NULL: "active" */
    /* For a terminal only. */
    bool utf8;
    size_t columns;           /* longer lines are cut; 0: none is */
    const char *const *paint; /* [flow states + 1]: escape codes before a
                                 state's mark, the last after it; or NULL */
};

/* X(name): each with a function draw_NAME, below. */
#define DRAW_FORMATS(X) X(text) X(mermaid) X(dot) X(svg)

typedef void draw_function(const struct drawing *drawing, struct buf *out);

/* The names, NULL-ended; and what one of them draws, NULL of another. */
extern const char *const draw_format_names[];
draw_function *draw_find(const char *name);

/*
 * As a list for a terminal, a line a step, below what it needs. Rails on the
 * left lead from each step down to those that need it: a step is joined to the
 * rails that touch its own line, and to the one that ends above it. Of more
 * than DRAW_FOLD_FROM steps those of one kind that need the same, and are
 * needed by the same, share a line. Where more than DRAW_RAILS_MAX rails would
 * stand side by side, what a step needs is named in their place.
 */
enum { DRAW_FOLD_FROM = 40, DRAW_RAILS_MAX = 24 };
void draw_text(const struct drawing *drawing, struct buf *out);
/* A Mermaid flowchart, as GitHub and GitLab show it; and Graphviz's language.
 */
void draw_mermaid(const struct drawing *drawing, struct buf *out);
void draw_dot(const struct drawing *drawing, struct buf *out);
/* A picture that needs nothing besides, for light and dark. */
void draw_svg(const struct drawing *drawing, struct buf *out);

/* What the formats say in the same words. */

/* "waiting", "active", "succeeded", "failed", "skipped". */
const char *draw_state_name(enum flow_state state);
/* The same for people, with the drawing's own word for active ones. */
const char *draw_state_word(const struct drawing *drawing,
                            enum flow_state state);
/* Appends what there is to say of a step besides its name and its state:
 * "experiment, 5 of 9 copies, 1 failed, 4 GPUs, at the end, always". */
void draw_note(const struct drawing *drawing, const struct draw_node *node,
               struct buf *out);

#endif
