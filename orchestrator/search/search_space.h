/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_SEARCH_SPACE_H
#define SMTUNE_ORCHESTRATOR_SEARCH_SEARCH_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * The search space of an experiment as people and programs are shown it:
 * parameters are numbered from 0, in the file's order.
 */

size_t search_space_count(const struct experiment *experiment);
/* Lives as long as the experiment. */
const char *search_space_name(const struct experiment *experiment,
                              size_t param);
/* Whether it can have more than one value. */
bool search_space_varies(const struct experiment *experiment, size_t param);

/* How many settings there are at most; 0: a continuum, or more than 2^62. */
uint64_t search_space_settings(const struct experiment *experiment);
/* Which part of it is feasible. -1 (ERR_FILE): none that could be found. */
int search_space_volume(const struct experiment *experiment,
                        struct space_volume *volume, struct err *err);

/* A list, in the file's order: of each parameter its "name" and "kind", what a
 * kind has of "scale", "min", "max", "step" and "values", and "when", the text
 * of its condition, if it has one. A new reference. */
json_t *search_space_json(const struct experiment *experiment);

#endif
