/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_GRAPH_JSON_H
#define SMTUNE_CLI_SHOW_JOBS_GRAPH_JSON_H

#include "base/err.h"
#include "base/json.h"

struct cli;
struct run_view;

/*
 * The graph of a workflow's run, ready to be drawn; a new reference. In pixels
 * from the upper left corner, as draw_svg places them:
 *
 *   {"width", "height", "problem": why the file does not pass, or null,
 *    "nodes": [{"step": its place in the file, "name", "kind": "task",
 *       "experiment", "workflow", "fail" or "join", "when", "is_final",
 *       "state", "copies", "jobs": {"succeeded", "failed", ...}, "round",
 *       "rounds", "note", "detail", "began_ms", "ended_ms" (since 1970, or
 * null), "layer", "x", "y", "width", "height"}], "edges": [{"from", "to":
 * steps, "points": [[x, y], ...]}]}
 *
 * The nodes come in the file's order. Of a run whose file no longer passes they
 * have no places, and there are no edges. NULL: ERR_USAGE where it is an
 * experiment's run.
 */
json_t *graph_to_json(const struct cli *cli, const struct run_view *view,
                      struct err *err);

#endif
