/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SERVE_RUN_ORIGIN_H
#define SMTUNE_CLI_SERVE_RUN_ORIGIN_H

#include "base/json.h"
#include "store/store.h"

/*
 * What a run was started from, with its secrets masked. A new reference:
 *
 *   {"path": of the file, or null, "text": of the file as the run follows it
 *    now, "set": [words of --set], "work_directory", "seed": a text,
 *    "revision": or null, "settings": {"search.method": "tpe", ...}, "is_cut",
 *    "engines": [{"time": ISO 8601, and what orchestrator/run/origin.h has}]}
 *
 * `settings` has the values of the file with those of --set, by their keys:
 * numbers, texts, bools, null, and lists of these. A list of maps has a key for
 * each of its items ("steps[0].command"). It is null where the text cannot be
 * read. is_cut: settings were left out, because there are too many of them. Of
 * the engines there are the first and the last ones. NULL on error.
 */
json_t *run_origin_to_json(struct store *store, const struct run_row *row,
                           struct err *err);

#endif
