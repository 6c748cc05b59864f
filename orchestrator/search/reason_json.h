/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_REASON_JSON_H
#define SMTUNE_ORCHESTRATOR_SEARCH_REASON_JSON_H

#include <stdbool.h>

#include "base/json.h"
#include "strategies/strategy.h"

/*
 * Why a point was chosen, as JSON: {"method", "step", "acquisition", "mean",
 * "deviation", "incumbent", "note"}, without what there is none of. The mean
 * is in the objective's own direction (`maximize`). A new reference.
 */
json_t *reason_to_json(const struct reason *reason, bool maximize);

#endif
