/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_H
#define SMTUNE_CLI_PLAN_H

#include <stdint.h>

#include "base/err.h"

struct cli;
struct experiment;

enum { PLAN_TRIALS_SHOWN = 5 };

/*
 * What a run of the experiment would do, to stdout: the search and why, the
 * budget, the space, and the first `shown` trials with their command lines.
 * Nothing is started or written. 0, or -1.
 */
int plan_print(const struct cli *cli, const struct experiment *experiment,
               int64_t shown, struct err *err);

#endif
