/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_MACHINE_CHECK_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_MACHINE_CHECK_H

#include "orchestrator/engine/core/state.h"

/* Before anything starts: -1 with an error where trials or a step need a
 * container that cannot start on this machine, or GPUs of a type that it does
 * not have. All of them would fail alike. */
int engine_check_machine(const struct engine *engine, struct err *err);

#endif
