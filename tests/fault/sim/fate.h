/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_FATE_H
#define SMTUNE_TESTS_FAULT_SIM_FATE_H

#include "tests/fault/sim/site.h"

/*
 * What becomes of an attempt: how long it runs and how it ends, all by the seed
 * and its id. end_ms is how long it will run.
 */
void fate_draw(struct site_attempt *attempt, const struct site_habits *habits,
               const struct attempt_spec *spec, uint64_t seed);
/* What it says, now that it begins: of epochs, those that are not done. */
void fate_speak(struct site_attempt *attempt, const struct site_habits *habits,
                uint64_t seed);
/* The epochs that are done when it ends. */
int64_t fate_level(const struct site_attempt *attempt,
                   const struct site_habits *habits, uint64_t seed);

#endif
