/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_WRAP_COMMAND_LINE_H
#define SMTUNE_ORCHESTRATOR_WRAP_COMMAND_LINE_H

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
    uint64_t resource; /* up to how much it may use; 0: not said */
    /* NULL: to be seen only. Else to be run by hand, by bash: behind the
     * variables of the file, in the container or the conda environment, and as
     * ranks. */
    const struct command_by_hand *by_hand;
};

struct command_by_hand {
    const char *run_directory;  /* absolute */
    const char *work_directory; /* of the run, absolute */
    char *const *variables; /* NULL-ended NAME=VALUE that come before it, too */
};

/* Whether something runs its words by hand: then the trial's directory is
 * there before, for a container and for files. */
bool command_line_is_wrapped(const struct job_spec *spec);

/* Appends the trial's command as a shell takes it: words quoted where they
 * have to be, or the script. 0, or -1. */
int command_line_print(const struct command_line *line, struct buf *out,
                       struct err *err);

/* The values of its columns, [space_count + EXTRA_COUNT]; the caller's to free.
 */
struct value *command_line_values(const struct command_line *line);

/* The same of a task whose columns have these values. */
int command_line_expand(const struct job_spec *spec, const struct value *values,
                        struct buf *out, struct err *err);

#endif
