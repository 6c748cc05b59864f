/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_TASKS_H
#define SMTUNE_EXECUTORS_SLURM_TALK_TASKS_H

/* Tasks of an array: `first`, and every `step`-th after it up to `last`. */
struct slurm_tasks {
    long first, last, step;
};

/*
 * Takes the next part, such as "3", "2-5" or "8-99:2", of a list of tasks as
 * Slurm writes it; *text moves behind it and its comma. 1 when there was one, 0
 * when what comes is something else, -1 when no array has such tasks.
 */
int slurm_tasks_take(const char **text, struct slurm_tasks *tasks);

#endif
