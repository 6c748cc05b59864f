/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ARCHIVE_ARCHIVE_H
#define SMTUNE_DASHBOARD_ARCHIVE_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct dashboard_source;

/*
 * Runs as one file for a browser: the page, and what it would ask a server
 * for, so that it needs none. The answers are those of the routes.
 *
 * They stand in elements <script type="application/json" data-archive>, each
 * an object with one or more of them by path, as the page asks for it:
 *
 *   {"/api/v1/runs/3": {"type": "application/json", "json": ...}}
 *   {"/api/v1/runs/3/columns": {"type": "...", "base64gz": "..."}}
 *
 * base64gz: the bytes compressed by gzip, in base64; JSON that is long comes in
 * this way, too. Of a piece of something longer "from" and "size", as the
 * headers X-Smtune-From and X-Smtune-Size. A "<" of JSON is written as \u003c,
 * so that no text can end its element.
 *
 * There are, of the runs and of those below them: /session, /runs (with these
 * alone), and of each run its document, /origin, /columns, /attempts,
 * /metric_names, /metrics?name=NAME of each, /rungs, /importance or /graph, and
 * of some jobs the document, /why and the end of each log (by the log's path
 * alone). What comes in pages is there as the page goes through it: the first
 * by the path alone, the next with ?after=N as its "next" says. /api/v1/archive
 * says what it is, and what is left out:
 *
 *   {"run": 3, "runs": [3, 5], "made_ms": since 1970, "version",
 *    "left_out": [{"run", "what": "jobs" or "metrics", "text"}]}
 *
 * `runs` are those that were asked for, `run` is the first of them.
 */

/* As many jobs, with their logs: the best, those that failed, and the last; and
 * so much of the end of a log, and of all curves. Of several runs each has its
 * share of the jobs and of the curves. */
enum {
    ARCHIVE_BEST_MAX = 200,
    ARCHIVE_FAILED_MAX = 100,
    ARCHIVE_LAST_MAX = 100,
    ARCHIVE_LOG_BYTES = 16 << 10,
    ARCHIVE_METRICS_BYTES = 64 << 20
};

/* Writes the file with these runs, at least one; several are compared when it
 * is opened. 0, or -1 with what was wrong. */
int archive_write(const char *store, const struct dashboard_source *source,
                  const int64_t *runs, size_t count, FILE *out,
                  struct err *err);

#endif
