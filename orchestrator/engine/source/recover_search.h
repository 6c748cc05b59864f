/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RECOVER_SEARCH_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RECOVER_SEARCH_H

#include "orchestrator/engine/core/take_up.h"

/* Reads an experiment's trials, and gives the search what it knew. */
int recover_search(struct taking_up *taking_up);

#endif
