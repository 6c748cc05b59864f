/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_LOG_HITS_H
#define SMTUNE_DASHBOARD_LOG_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

/* Lines of logs that a search found, as a client gets them: the match with some
 * of its line before and behind it, cut between characters. */

struct log_hits;
struct log_line;

/* The log of a line. */
struct log_source {
    int64_t job, attempt, rank; /* numbers */
};

/* keeps_last: of more than `limit` the last ones are kept, not the first. */
struct log_hits *log_hits_create(size_t limit, bool keeps_last);
void log_hits_destroy(struct log_hits *hits);
/* Whether it is full: no more are kept. */
bool log_hits_add(struct log_hits *hits, const struct log_source *source,
                  const struct log_line *line);
/* How many were added, of which no more than `limit` are kept. */
int64_t log_hits_count(const struct log_hits *hits);
/*
 * [{"job", "attempt", "rank", "line", "byte", "before", "match", "after",
 * "is_cut"}], in their order. Control characters but the tab, and bytes that
 * are not UTF-8, are \xHH in the texts.
 */
json_t *log_hits_json(const struct log_hits *hits);

#endif
