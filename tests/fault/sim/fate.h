/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_FATE_H
#define SMTUNE_TESTS_FAULT_SIM_FATE_H

#include "tests/fault/sim/site.h"

/*
 * What becomes of an attempt: how long it runs, how it ends and what it says,
 * all by the seed and its id. end_ms is how long it will run.
 */
void fate_draw(struct site_attempt *attempt, const struct site_habits *habits,
               const struct attempt_spec *spec, uint64_t seed);

#endif
