/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_COMMAND_LINE_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "orchestrator/spec/experiment/experiment.h"

struct buf;

/* A trial whose command is to be seen; all is borrowed. */
struct command_line {
    const struct experiment *experiment;
    const char *run; /* its name */
    int64_t trial;
    const struct value *point; /* [space_count] */
    const char *directory, *checkpoint_directory;
    uint64_t resource;     /* up to how much it may use; 0: not said */
    bool with_environment; /* the variables of the file come first */
};

/* Appends the trial's command as a shell takes it: words quoted where they
 * have to be, or the script. 0, or -1. */
int command_line_print(const struct command_line *line, struct buf *out,
                       struct err *err);

/* The same of a task whose columns have these values. */
int command_line_expand(const struct job_spec *spec, const struct value *values,
                        struct buf *out, struct err *err);

#endif
