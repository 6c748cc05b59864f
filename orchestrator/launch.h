/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_LAUNCH_H
#define SMTUNE_ORCHESTRATOR_LAUNCH_H

#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "executors/executor.h"
#include "orchestrator/experiment.h"

/*
 * What one attempt of a trial is given: its directories and files, its words
 * and its environment (smtune's own names and SageMaker's).
 *
 *   runs/NAME/trials/N/              SMTUNE_DIR, SAGEMAKER_BASE_DIR
 *       params.json                  SMTUNE_PARAMS
 *       input/config/NAME.json       SageMaker's three files
 *       model/ output/data/          SM_MODEL_DIR, SM_OUTPUT_DATA_DIR
 *       checkpoints/                 SMTUNE_CHECKPOINT_DIR, kept by retries
 *       attempt-A/                   log, claim, exit, metrics.jsonl
 */

/* The same for all attempts of a run. Everything is borrowed. */
struct launch_site {
    const struct experiment *experiment;
    const char *run_name;
    const char *run_directory;  /* absolute */
    const char *work_directory; /* where commands start */
    const char *program_path;   /* PATH with smtune's own directory first */
    char *const *environment;   /* inherited, NULL-ended */
};

struct launch; /* one attempt's spec, and the memory behind it */

/* The attempt's directory: caller frees. */
char *launch_directory(const struct launch_site *site, int64_t trial,
                       int64_t attempt_number);

/* Makes directories and files, expands the command. point is in the order of
 * the space's parameters. */
struct launch *launch_create(const struct launch_site *site, int64_t trial,
                             int64_t attempt, int64_t attempt_number,
                             const struct value *point, struct err *err);
/* Lives as long as the launch. */
const struct attempt_spec *launch_spec(const struct launch *launch);
void launch_destroy(struct launch *launch);

#endif
