/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_WARM_START_VIEW_H
#define SMTUNE_CLI_DRIVE_WARM_START_VIEW_H

#include <stdio.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "orchestrator/search/warm_start.h"
#include "orchestrator/spec/experiment/experiment.h"

/* Earlier runs that a search begins with (orchestrator/search/warm_start.h),
 * for the commands that have no run yet, and for people. */

/* Reads them from the store into *warm, the caller's to destroy; where the file
 * asks for none, NULL, and no store is opened. */
int warm_start_view_read(const struct cli *cli,
                         const struct experiment *experiment,
                         struct warm_start **warm, struct err *err);

/* A line an earlier run, with `label` in front. */
void warm_start_view_print(FILE *file, const char *label,
                           const struct experiment *experiment,
                           const struct warm_start *warm);

/* [{"run", "mode", "taken", "left_out"}]. warm NULL: []. A new reference. */
json_t *warm_start_view_json(const struct experiment *experiment,
                             const struct warm_start *warm);

#endif
