/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_ATTEMPT_PLACE_H
#define SMTUNE_CLI_SHOW_RUN_ATTEMPT_PLACE_H

#include <stdbool.h>

#include "base/buf.h"
#include "cli/show/run/attempt_now.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"
#include "store/store.h"

/* Where attempts are on a cluster, and what `smtune resume` does with those of
 * a run that lacks its engine: columns behind others, of a list in which any
 * has something there. */

enum { PLACE_COLUMNS = 5, PLACE_LIST_MAX = 24 };

struct place_list {
    struct table_column columns[PLACE_LIST_MAX]; /* [count], the places last */
    size_t count;
    const struct run_view *view; /* borrowed */
    bool has_places;
    bool has_resume; /* its last column: what `smtune resume` does */
};

/*
 * The columns for attempts of a job, or (job 0) of all that have not ended:
 * `own` of count, at most PLACE_LIST_MAX - PLACE_COLUMNS - 1, and the places
 * where they have some. All here return 0, or -1.
 */
int place_list_init(struct place_list *list, const struct table_column *own,
                    size_t count, const struct run_view *view, int64_t job,
                    struct err *err);

/* A row of them: own is as many cells as there were columns. */
int place_list_row(const struct place_list *list, struct document *document,
                   const struct value *own, const struct attempt_row *attempt,
                   const struct attempt_now *now, struct err *err);

/* Appends where a job waits, and Slurm's reason: "it is queued as job 4711, for
 * 5m 03s: Priority (...)"; nothing where it waits on no cluster. Of a run that
 * lacks its engine, what attempt_now_print() has. */
int place_print_queue(const struct run_view *view, int64_t job, struct buf *out,
                      struct err *err);

#endif
