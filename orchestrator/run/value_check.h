/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_VALUE_CHECK_H
#define SMTUNE_ORCHESTRATOR_RUN_VALUE_CHECK_H

#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"

/* Before anything starts: whether all values that jobs need are at hand. */

struct workflow;

/*
 * -1 with ERR_USAGE where a variable of env_from is not set, an env_file cannot
 * be used, or secrets in the file are masked.
 */
int run_check_values(const struct experiment *experiment,
                     const struct workflow *workflow, struct err *err);

/* The last of these alone: the file is a copy that notes it (spec_mask.h). */
int run_check_masked(const struct experiment *experiment, struct err *err);

#endif
