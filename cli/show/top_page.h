/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_TOP_PAGE_H
#define SMTUNE_CLI_SHOW_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/show/jobs/run_steps.h"
#include "store/store.h"

struct buf;
struct cli;

/*
 * Runs that go on, as `smtune top` shows them: a line each, and below it the
 * steps of a workflow, or how the trials of an experiment stand, those that run
 * and the best.
 */

/* A run, as it was when it was last looked at. */
struct top_run {
    int64_t id;
    char *name, *state, *metric; /* state: as run_state_shown() says it */
    bool is_workflow, is_live;   /* it has an engine */
    int64_t duration_ms;         /* -1: nobody knows */
    int64_t jobs, succeeded, nonfinite, failed, stopped, cancelled;
    int64_t running, queued;
    int64_t interrupted; /* running by the record, without an engine */
    double best;         /* NaN: none */
    int64_t best_trial;
    struct run_steps steps; /* of a workflow */
    bool has_steps;         /* they have been read */
    /* What top_print_changes() has said. */
    char *said_state;            /* NULL: nothing */
    enum flow_state *said_steps; /* [steps.list.count]; NULL: nothing */
};

struct top {
    struct top_run *runs;
    size_t count, capacity;
};

/* Looks at the runs anew: at the run `only`, or (0) at all that have an engine
 * and were started by a person, and those that had one at an earlier look. */
int top_read(struct top *top, struct store *store, int64_t only,
             struct err *err);
void top_clear(struct top *top);

/* Appends a page of at most `lines` lines; trials are read for it. 0, or -1. */
int top_print_page(const struct top *top, struct store *store,
                   const struct cli *cli, size_t lines, struct buf *out,
                   struct err *err);
/* Appends a line for each run and each step whose state is another than it was
 * at the last call. */
void top_print_changes(struct top *top, struct buf *out);

#endif
