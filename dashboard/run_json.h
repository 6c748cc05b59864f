/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_RUN_JSON_H
#define SMTUNE_DASHBOARD_RUN_JSON_H

#include "base/err.h"
#include "base/json.h"

struct run_row;
struct store;

/* A run as the list of runs has it ("Runs" in schemas.json), with its state for
 * people. A new reference; NULL on error. */
json_t *run_to_json(struct store *store, const struct run_row *run,
                    const char *state, struct err *err);

#endif
