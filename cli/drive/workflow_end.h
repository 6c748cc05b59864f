/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_WORKFLOW_END_H
#define SMTUNE_CLI_DRIVE_WORKFLOW_END_H

#include "base/err.h"

struct cli;

/*
 * What came of a workflow's run, by its name: to stdout its steps, how each
 * ended and what it gave, or with -o json one object; then to stderr which jobs
 * failed, the end of what they said, and the commands that show more.
 * 0, or -1.
 */
int workflow_end_print(const struct cli *cli, const char *name,
                       struct err *err);

#endif
