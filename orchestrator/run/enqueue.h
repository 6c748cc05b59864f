/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_ENQUEUE_H
#define SMTUNE_ORCHESTRATOR_RUN_ENQUEUE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"
#include "strategies/strategy.h"

/*
 * Settings that a person has a run try next, while it goes on or between its
 * engines. Each is in the record before anybody is told of it, and the trial
 * that tries it is written there in the transaction of that trial's beginning:
 * so each is tried once. One takes a trial of the budget's.
 */

struct run;

enum { ENQUEUE_WAITING_MAX = 1000 };

/*
 * Checks a setting, {name: value}, and puts it behind the strategy's others and
 * into the record, in a transaction that is open then. trials: how many there
 * are already. *index: which one it is, from 1. ERR_USAGE: it is no setting of
 * the space; ERR_BUSY: the budget has no trial left for it, or too many wait.
 * Then nothing has changed; after another error the strategy knows more than
 * the record.
 */
struct enqueue {
    struct store *store;
    int64_t run;
    const struct experiment *experiment;
    struct strategy *strategy;
    int64_t trials;
};

int enqueue_add(const struct enqueue *enqueue, const json_t *params,
                int64_t *index, struct err *err);

/* The same for a run that no engine has, whose lock the caller holds:
 * committed. ERR_USAGE where it is a workflow's. */
int enqueue_add_to_run(struct run *run, const json_t *params, int64_t *index,
                       struct err *err);

/* Gives the strategy those that a trial is to try: those that none has yet, or
 * (trial over 0) the one that this trial did. */
int enqueue_load(struct store *store, int64_t run, const struct space *space,
                 int64_t trial, struct strategy *strategy, struct err *err);

#endif
