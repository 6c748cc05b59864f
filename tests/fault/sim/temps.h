/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_TEMPS_H
#define SMTUNE_TESTS_FAULT_SIM_TEMPS_H

#include "tests/fault/sim/site.h"

/*
 * Temporary outputs: files on the real disk, one a job, which attempts that end
 * well leave and engines remove. A site knows when each came and went.
 */

/* The variable of an attempt's environment that has the path. */
#define TEMPS_VARIABLE "SIM_TEMP"

/* Where the attempt will leave its file, by its environment. */
void temps_read(struct site_attempt *attempt, const struct attempt_spec *spec);
/* It has ended well. */
void temps_leave(struct site_attempt *attempt);

#endif
