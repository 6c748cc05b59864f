/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_RUN_RESULT_H
#define SMTUNE_CLI_DRIVE_RUN_RESULT_H

#include "base/err.h"

struct run_end;

/*
 * What came of a run that has just ended, as a line of JSON to standard output:
 * "run", "state", "reason", how many "trials", and the "best"; with several
 * objectives the Pareto "front", the best of the first objective first. 0, or
 * -1.
 */
int run_result_print(const struct run_end *end, struct err *err);

#endif
