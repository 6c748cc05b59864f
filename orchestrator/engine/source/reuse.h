/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_REUSE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_REUSE_H

#include "orchestrator/engine/core/state.h"

/* Settles a new trial, in no list yet, with the results of another one. False
 * when the engine broke; then the trial is still the caller's. */
bool engine_reuse(struct engine *engine, struct job *job, int64_t same_as);

#endif
