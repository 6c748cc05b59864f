/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_IMPORT_ROW_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_IMPORT_ROW_H

#include "base/json.h"
#include "orchestrator/spec/experiment/experiment.h"

/* A row of results, an object by the names of its columns, as the request that
 * tells its result (docs/howto-ask-and-tell.md). NULL: it has no result. */
json_t *import_row_request(const struct experiment *experiment,
                           const json_t *row);

#endif
