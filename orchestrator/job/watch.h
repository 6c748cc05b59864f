/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_WATCH_H
#define SMTUNE_ORCHESTRATOR_JOB_WATCH_H

#include <stddef.h>

#include "base/err.h"
#include "base/metrics/metrics.h"

struct buf;

/*
 * Reads the metrics of one attempt from the files it writes: its log, and the
 * JSON lines of $SMTUNE_METRICS. Files, not pipes: a trial is never held up by
 * its reader, and what was written while no engine lived is still there.
 */
struct watch;

/* Files need not exist yet. The rules are borrowed: those of the log, and
 * those of $SMTUNE_METRICS. last_step: where the attempt goes on, 0: nowhere.
 */
struct watch *watch_create(const char *attempt_directory,
                           struct metric_rules *log_rules,
                           struct metric_rules *report_rules,
                           int64_t last_step);
void watch_destroy(struct watch *watch);

/*
 * Reads on from where it stopped, up to a few megabytes so that one loud trial
 * holds nobody up. Returns 1 when there may be more to read at once, 0 when
 * not, -1 when the files cannot be read now (ERR_SHORTAGE: it may pass).
 */
int watch_read(struct watch *watch, metric_fn found, void *user,
               struct err *err);

/* Appends the last max_bytes of the log, as it is now, to *out. Returns 0, or
 * -1 as watch_read() does. */
int watch_read_log_end(const struct watch *watch, size_t max_bytes,
                       struct buf *out, struct err *err);

/* The attempt has ended and watch_read returned 0: takes a last line that has
 * no newline. */
void watch_finish(struct watch *watch, metric_fn found, void *user);

#endif
