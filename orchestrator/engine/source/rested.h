/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RESTED_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RESTED_H

#include "orchestrator/engine/core/state.h"

/* Trials that their schedule has paused: they are in the record alone. */

struct rested {
    const struct engine *engine;
    int64_t number, job;
    struct value *point; /* [space_count] */
    int64_t below;       /* what is looked for is at less than that */
    int64_t resource;    /* at which it paused last; 0: never */
    bool is_stopped;
    struct err *err;
};

/* Fills in job, point, resource and is_stopped of the trial `number`. -1 with
 * err where the record cannot be read. */
int rested_find(struct rested *rested, struct err *err);

/* Slot `locate`: where a trial that is coming into memory goes on from, and
 * whether it was to be stopped. */
int rested_locate(const struct engine *engine, struct job *job,
                  struct err *err);

#endif
