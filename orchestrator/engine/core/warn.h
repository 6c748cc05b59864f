/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_WARN_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_WARN_H

#include "base/compiler.h"
#include "orchestrator/engine/core/state.h"

/* Warns the user of the engine, unless *was_told, which is then so: of what all
 * trials do alike, the first one is reported. */
void engine_warn_once(struct engine *engine, bool *was_told, const char *format,
                      ...) PRINTF_LIKE(3, 4);

#endif
