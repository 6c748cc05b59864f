/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_CHECKPOINT_H
#define SMTUNE_TESTS_FAULT_SIM_CHECKPOINT_H

#include "tests/fault/sim/site.h"

/*
 * What attempts leave among their trial's checkpoints: a file that says whose
 * it is, so that each attempt knows what it goes on from. Attempts sync what
 * they write; what the engine copies is as safe as it makes it (folders.h).
 */

/* The attempt begins, with what `before` has left, its trial's last attempt
 * that began; NULL: it is the first. Fails where it finds something else. */
void checkpoint_take_up(struct site_attempt *attempt,
                        const struct site_attempt *before);
/* It ends: what it has done is saved, or what it found is written again. */
void checkpoint_leave(struct site_attempt *attempt, int64_t level);

#endif
