/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_WAVE_RESERVE_H
#define SMTUNE_EXECUTORS_SLURM_WAVE_RESERVE_H

#include "executors/slurm/wave/wave.h"

/*
 * Reserves: attempts that are queued behind another one, to follow it should
 * nobody be there to start them when it ends at its time limit (executor.h,
 * attempt_spec.reserves). Each is a job that depends on the one before. It
 * waits for the mark `go`, which it gets when its attempt is started; where the
 * chain ends otherwise its claim is made void, and its job cancelled.
 *
 * The folder of its job has, beside `tasks` and `script`, `before`: the
 * directory of the attempt before it. So an engine that comes back knows them.
 */

/* Finds those that an earlier engine left. */
void reserves_open(struct waves *waves);
void reserves_close(struct waves *waves);

/* Takes those of the task's flight; they are queued once its job is known. */
void reserves_take(struct wave_task *task);
/* The job of what runs in this directory is known. */
void reserves_queue(struct waves *waves, const char *directory, int64_t job);
/* What is in the directory is an attempt now: its name and its job; false where
 * there is no reserve, or it is not known to be queued: then it is dropped. */
bool reserves_adopt(struct waves *waves, const char *directory,
                    char name[SLURM_NAME_SIZE], int64_t *job);
/* An attempt was taken up: those behind it wait for it. Returns whether there
 * are any. */
bool reserves_follow(struct waves *waves, const char *directory);
/* It ended; at its time limit those behind it may be wanted soon. */
void reserves_release(struct waves *waves, const char *directory,
                      bool at_limit);
/* A row that is no wave's; false where it is no reserve's either. */
bool reserves_listed(struct waves *waves, const struct slurm_job *job);
/* Drops what nobody wanted. */
void reserves_tick(struct waves *waves, int64_t now_ms);

#endif
