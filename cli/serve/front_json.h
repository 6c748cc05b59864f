/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SERVE_FRONT_JSON_H
#define SMTUNE_CLI_SERVE_FRONT_JSON_H

#include "base/err.h"
#include "base/json.h"

/* How good a run with several objectives is as a whole, for the list of runs.
 */

struct run_view;

/* The Pareto front of a run's trials: {"trials": n, "hypervolume": x or null}.
 * A new reference, or NULL with err. */
json_t *front_to_json(const struct run_view *view, struct err *err);

#endif
