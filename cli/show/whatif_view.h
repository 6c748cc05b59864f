/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_WHATIF_VIEW_H
#define SMTUNE_CLI_SHOW_WHATIF_VIEW_H

#include <stddef.h>

#include "base/err.h"
#include "cli/show/run/schedule_label.h"
#include "orchestrator/search/whatif.h"

struct cli;

/* A schedule that was tried, and what came of it. */
struct whatif_row {
    char label[SCHEDULE_LABEL_SIZE];
    struct schedule_options options;
    struct curve_sim_result result;
};

/* Prints the run, and rows[count]: a table, one JSON object, or as JSON lines
 * and CSV the rows alone. -1 when stdout is gone. */
int whatif_print(const struct cli *cli, const char *name,
                 const struct whatif *whatif, const struct whatif_row *rows,
                 size_t count, struct err *err);

#endif
