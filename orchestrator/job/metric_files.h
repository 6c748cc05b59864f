/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_METRIC_FILES_H
#define SMTUNE_ORCHESTRATOR_JOB_METRIC_FILES_H

#include <stddef.h>

#include "base/err.h"
#include "base/metrics/metrics.h"

struct buf;

/*
 * Reads the metrics of one attempt from the files it writes: its log, and the
 * JSON lines of $SMTUNE_METRICS. Files, not pipes: a trial is never held up by
 * its reader, and what was written while no engine lived is still there.
 */
struct metric_files;

/* Files need not exist yet. The rules are borrowed: those of the log, and
 * those of $SMTUNE_METRICS. last_step: where the attempt goes on, 0: nowhere.
 */
struct metric_files *metric_files_create(const char *attempt_directory,
                                         struct metric_rules *log_rules,
                                         struct metric_rules *report_rules,
                                         int64_t last_step);
void metric_files_destroy(struct metric_files *files);
/* See metric_reader_reserve(), metric_reader_left_out(), and
 * metric_reader_several(). */
void metric_files_reserve(struct metric_files *files, const char *name);
int64_t metric_files_left_out(const struct metric_files *files);
bool metric_files_several(const struct metric_files *files,
                          struct metric_several *several);

/*
 * Reads on from where it stopped, up to a few megabytes so that one loud trial
 * holds nobody up. Returns 1 when there may be more to read at once, 0 when
 * not, -1 when the files cannot be read now (ERR_SHORTAGE: it may pass).
 */
int metric_files_read(struct metric_files *files, metric_fn found, void *user,
                      struct err *err);

/* Appends the last max_bytes of the log, as it is now, to *out. Returns 0, or
 * -1 as metric_files_read() does. */
int metric_files_read_log_end(const struct metric_files *files,
                              size_t max_bytes, struct buf *out,
                              struct err *err);

/* The attempt has ended and metric_files_read returned 0. is_whole: it ended by
 * itself, so its last line counts without a newline, too. */
void metric_files_finish(struct metric_files *files, bool is_whole,
                         metric_fn found, void *user);

#endif
