/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_COMMAND_STEP_H
#define SMTUNE_ORCHESTRATOR_STEPS_COMMAND_STEP_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

struct buf;

/* A job of a workflow whose command is to be seen; all is borrowed. */
struct command_step {
    const struct workflow *workflow;
    struct store *store;
    int64_t run;
    const char *run_name, *run_directory;
    size_t step; /* with a command */
    int64_t number, copy, copies, round;
    const json_t *matrix; /* of the step's copies; NULL: none */
    const json_t *rounds; /* its round's values; NULL: none */
};

/* Appends the command that the job was started with, as command_line_print()
 * does. 0, or -1. */
int command_step_print(const struct command_step *job, struct buf *out,
                       struct err *err);

#endif
