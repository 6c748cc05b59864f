/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_CHECK_H
#define SMTUNE_TESTS_FAULT_SIM_CHECK_H

#include "tests/fault/sim/history.h"
#include "tests/fault/sim/record.h"

/* What has to hold of a run that is over, by rules of their own: none of the
 * engine's code is asked. All fail as world_fail. */

/* Everything. */
void check_history(const struct history *history);

/* check_retry.c: a trial was tried again as often as its rules say, and no
 * sooner. */
void check_retries(const struct history *history, const struct record *record);

/* check_schedule.c: trials used what they were given, bit by bit, and nobody
 * was given anything twice. */
void check_schedule(const struct history *history, const struct record *record);
/* Whether the trial was given more after that attempt. */
bool check_is_promoted(const struct record *record, int64_t attempt);

/* check_links.c: a job with `continue` was started again at its time limit as
 * long as it might be. */
void check_links(const struct history *history, const struct record *record);
/* Whether its time limit ended the attempt of such a job: no retry rule is
 * asked about it. */
bool check_is_link(const struct history *history, const struct record *record,
                   const struct record_attempt *attempt);

/* check_checkpoints.c: trials went on from what was theirs, or, as clones and
 * rounds, another's. */
void check_checkpoints(const struct history *history,
                       const struct record *record);

/* check_flow.c: of a workflow, each copy of each step ran that was to run, when
 * it might, and its steps ended as their copies did. */
void check_flow(const struct history *history, const struct record *record);

/* check_temps.c: temporary outputs were removed when no step could need them
 * any more, and only then; and the record says so. */
void check_temps(const struct history *history, const struct record *record);

/* check_store.c: the settings are those that the search gives without any
 * crash, the record proves them (and the steps of a workflow), and its tables
 * are what its events say. Here the engine's own proofs are on trial, too. */
void check_store(const struct history *history);

#endif
