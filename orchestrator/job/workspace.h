/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_WORKSPACE_H
#define SMTUNE_ORCHESTRATOR_JOB_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/job/hosts.h"
#include "orchestrator/spec/experiment/job_spec.h"

/*
 * The folders of a run's trials:
 *
 *   runs/NAME/trials/N/                  SMTUNE_DIR
 *       ml/                              SAGEMAKER_BASE_DIR, as /opt/ml there
 *           checkpoints/                 SMTUNE_CHECKPOINT_DIR, kept by retries
 *           model/  output/data/         SM_MODEL_DIR, SM_OUTPUT_DATA_DIR
 *           input/config/NAME.json       SageMaker's three, and params.json
 *           input/data/CHANNEL/          links to a copy's share (shards.h)
 *   runs/NAME/attempts/N-A/              log, claim, exit, metrics.jsonl
 *   runs/NAME/shards/STEP/CHANNEL        the files that copies share out
 *   runs/NAME/images/IMAGE.sif           images of containers (container.h)
 *
 * Making eight folders costs more than starting a short trial. Where a trial
 * left nothing in its folder, another one gets that by a rename.
 */
struct workspaces;

/* Makes `trials` and `attempts`, where they are missing. NULL, and -1 below:
 * what could not be made or read, with its path. The caller destroys. */
struct workspaces *workspaces_create(const char *run_directory,
                                     struct err *err);
/* The run's own folder; lives as long as they. */
const char *workspaces_directory(const struct workspaces *workspaces);
/* Removes what is spare. */
void workspaces_destroy(struct workspaces *workspaces);

/* A trial's folder, and that of one attempt. The caller frees. */
char *workspace_directory(const struct workspaces *workspaces, int64_t trial);
char *workspace_attempt_directory(const struct workspaces *workspaces,
                                  int64_t trial, int64_t attempt_number);

/* Whether it left anything among its checkpoints. */
bool workspace_has_checkpoint(const struct workspaces *workspaces,
                              int64_t trial);
/* A trial that has no attempt yet gets what another one, which rests, has among
 * its checkpoints, and nothing else; that lasts through a power cut. */
int workspace_copy_checkpoint(struct workspaces *workspaces, int64_t from,
                              int64_t to, struct err *err);

/* Where a trial's checkpoints are, there or not. The caller frees. */
char *workspace_checkpoint_directory(const char *run_directory, int64_t trial);

/* Where it is written down which files of a step's channel its copies share
 * (shards.h). The caller frees. */
char *workspace_shard_list(const struct workspaces *workspaces,
                           const char *step, const char *channel);

/* The step begins: what was written down there, when it began before, goes. */
int workspace_forget_shards(const struct workspaces *workspaces,
                            const char *step, const struct job_spec *spec,
                            struct err *err);

struct workspace_order {
    int64_t job; /* its number */
    int64_t attempt_number;
    bool inherits; /* it begins with a copy of another one's checkpoints */
    const struct job_spec
        *task;             /* the same one, as long as the folders are used */
    struct job_copy copy;  /* for resourceconfig.json */
    const json_t *params;  /* for params.json */
    const json_t *strings; /* for hyperparameters.json: each value as text */
};

/* Makes what is missing of the job's folders, and that of a new attempt
 * (attempt_folder.h). */
int workspace_prepare(struct workspaces *workspaces,
                      const struct workspace_order *order, struct err *err);

/* From now on the attempts' folders outlast a power cut; a file system that
 * cannot sync a directory is no error. */
int workspaces_sync(struct workspaces *workspaces, struct err *err);

/* The trial is over, or rests: takes its folder back if nothing was left there.
 * It gets another one should it go on; one whose next attempt has been prepared
 * since that one does so. */
void workspace_release(struct workspaces *workspaces, int64_t trial,
                       int64_t attempt_number);

/* Removes the folders that were taken back and not given to another trial. */
void workspaces_remove_spare(struct workspaces *workspaces);

#endif
