/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_PLAN_H
#define SMTUNE_CLI_PLAN_PLAN_H

#include <stdint.h>

#include "base/err.h"

struct cli;
struct spec;

/*
 * What a run would do, to stdout. Of an experiment: the search and why, the
 * budget, the space, and the first `shown` trials with their command lines; of
 * a workflow: see workflow.h. 0 shown: some. Nothing is started or
 * written. 0, or -1.
 */
int plan_print(const struct cli *cli, const struct spec *spec, int64_t shown,
               struct err *err);

#endif
