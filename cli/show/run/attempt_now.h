/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_ATTEMPT_NOW_H
#define SMTUNE_CLI_SHOW_RUN_ATTEMPT_NOW_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/show/run/run_view.h"

/* An attempt as it is now. The record is only as new as its engine: of a run
 * that lacks its engine, the attempt's folder is looked at. */
struct attempt_now {
    const char *state;  /* the record's; or "running", "starting", "ended",
                           "lost", "unknown" by the folder */
    int64_t started_ms; /* 0: it has not, or that is unknown */
    int64_t ran_ms;     /* -1: it has not, or that is unknown */
    char *resume;       /* what `smtune resume` does with it; NULL: nothing */
};

/* To be cleared. */
void attempt_now_of(const struct run_view *view,
                    const struct attempt_row *attempt, struct attempt_now *now);
void attempt_now_clear(struct attempt_now *now);

/* Appends what became of a job's attempts that the record has as not ended, in
 * a run that lacks its engine: "the engine crashed; attempt 1 still runs (pid
 * 42), and `smtune resume tune` adopts it"; else nothing. 0, or -1. */
int attempt_now_print(const struct run_view *view, int64_t job, struct buf *out,
                      struct err *err);

#endif
