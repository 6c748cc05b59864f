/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_WORKFLOW_DRAWING_H
#define SMTUNE_CLI_SHOW_JOBS_WORKFLOW_DRAWING_H

#include <stdint.h>

#include "workflows/draw/draw.h"

struct cli;
struct step;
struct workflow;

/* A workflow made ready to be drawn, as its file has it: who draws a run sets
 * has_states, and the states of the nodes. */
struct workflow_drawing {
    struct drawing drawing;  /* for stdout */
    struct draw_node *nodes; /* [step_count] those of drawing.nodes */
    char **details;          /* [step_count] theirs */
    size_t count;
};

/* The workflow is borrowed. */
void workflow_drawing_init(struct workflow_drawing *drawing,
                           const struct cli *cli,
                           const struct workflow *workflow);
void workflow_drawing_clear(struct workflow_drawing *drawing);

/* How many copies of a step there will be; -1: that is known when it begins. */
int64_t workflow_step_copies(const struct step *step);

#endif
