/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_PLAN_H
#define SMTUNE_CLI_PLAN_PLAN_H

#include <stdint.h>

#include "base/err.h"

struct cli;
struct spec;

/* Of what, and how much of it. */
struct plan_order {
    const char *name; /* of the run; NULL: the one it would get */
    int64_t shown;    /* trials, or steps; 0: some */
};

/*
 * What a run would do, to stdout. Of an experiment: the search and why, the
 * budget, the space, and the first `shown` trials with their command lines; of
 * a workflow: see workflow.h. Nothing is started or written. 0, or -1.
 */
int plan_print(const struct cli *cli, const struct spec *spec,
               const struct plan_order *order, struct err *err);

#endif
