/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_RECOVER_H
#define SMTUNE_ORCHESTRATOR_ENGINE_RECOVER_H

#include "orchestrator/engine/core/state.h"

/* Reads the run from the record: what the search knows or how far the steps
 * are, and each job that is not over. -1 with err. */
int engine_recover(struct engine *engine, struct err *err);

#endif
