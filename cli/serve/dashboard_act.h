/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SERVE_DASHBOARD_ACT_H
#define SMTUNE_CLI_SERVE_DASHBOARD_ACT_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

/*
 * What the dashboard's people do to a run: `act` of struct dashboard_source
 * (dashboard/source.h), on the store of that directory. A verb is one of
 * DASHBOARD_VERBS; its body, all of which may be left out but what is marked:
 *
 *   stop     {"drain": bool}
 *   pause    {"now": bool}
 *   resume   {}
 *   retry    {"jobs": [number], "step": name, "failed": bool, "force": bool}
 *   enqueue  {"params": {name: value}}, marked
 *   note     {"job": number, "text": text}, text is marked; "": takes it away
 *   tag      {"jobs": [number], "add": [text], "remove": [text]}
 *
 * Those up to retry are done by the run's engine; where it has none, ERR_BUSY
 * says what to type instead. From any thread; it takes seconds at the most,
 * where an engine or another writer is slow. A new reference, or NULL with err.
 */
json_t *dashboard_act(const char *store, int64_t run, const char *verb,
                      const json_t *body, struct err *err);

#endif
