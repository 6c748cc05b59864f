/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FORESEE_PLACES_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FORESEE_PLACES_H

#include "orchestrator/engine/core/state.h"

/* For which places the steps wait that decide about held jobs: those have
 * places, too. */
struct wanted_places {
    bool *steps; /* [step_count] a place beside its own copies */
    bool *pools; /* [pool_count] */
};

/* By the last forecast: there was one. wanted_places_clear() frees. */
void engine_find_wanted(const struct engine *engine,
                        struct wanted_places *wanted);
void wanted_places_clear(struct wanted_places *wanted);

/* Whether a held job has one of them. */
bool engine_is_in_the_way(const struct engine *engine, const struct job *job,
                          const struct wanted_places *wanted);

#endif
