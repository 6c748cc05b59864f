/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_EXPERIMENT_JSON_H
#define SMTUNE_CLI_SHOW_RUN_EXPERIMENT_JSON_H

#include "base/json.h"

struct experiment;

/* What an experiment's file says of its search, as JSON; new references. */

/* An object: what limits the run; null where nothing is said. */
json_t *budget_to_json(const struct experiment *experiment);
/* A list of {"metric", "goal"}, in the file's order. */
json_t *objectives_to_json(char *const *metrics, char *const *goals);

#endif
