/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_REPLICATES_H
#define SMTUNE_CLI_SHOW_RUN_REPLICATES_H

#include <stdint.h>

#include "base/err.h"
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"

/*
 * Settings that were tried several times in a row each: the best is the one
 * with the best mean. One objective.
 */

/* Writes the best setting as an object (count 0), or the `count` best as rows:
 * a trial's columns, with the mean as its value and the id of its first trial,
 * and `deviation` (of a single value; null for one) and `replicates`. Settings
 * with all their replicates come before those that lack some. 0, or -1. */
int replicates_show_best(const struct cli *cli, const struct run_view *view,
                         int64_t replicates, int64_t count, struct err *err);

#endif
