/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_H
#define SMTUNE_BASE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * Finds metrics in what a trial writes. Bytes go in as they come, in any
 * pieces; out come (name, step, value). Memory is bounded whatever is fed:
 * a line longer than 64 KiB is read up to there and the rest skipped; NUL and
 * binary bytes are just bytes. A carriage return ends a line too.
 *
 * Built-in patterns, used where no regex is given: NAME=NUMBER and
 * NAME: NUMBER anywhere in a line, and lines that are one JSON object, whose
 * numeric members (nan, inf and null included) are metrics. NUMBER is decimal
 * or nan, inf, infinity in any case, with a sign.
 *
 * The step of a metric is that of a member or pair of the same line called
 * step, epoch, iteration or iter (the first of these that is there; without
 * case), else one more than that metric's last step, from 1.
 */

struct metric_rule {
    const char *name;
    const char *regex; /* PCRE2, first group is the number (or named group
                          `value`; a group named `step` is the step); NULL:
                          the built-in patterns, for this name alone */
};

struct metric_rules; /* compiled once, shared by many readers */
struct metric_reader;

typedef void (*metric_fn)(void *user, const char *name, int64_t step,
                          double value);

/*
 * With count 0 every NAME=NUMBER is a metric; otherwise rules name them all
 * (the built-in patterns then serve the rules without a regex). A regex that
 * does not compile: ERR_FILE, err->line = its index + 1, err->column in it.
 * Matching runs under match and depth limits; a regex that hits them finds
 * nothing in that line, and metric_rules_limited() counts it.
 */
struct metric_rules *metric_rules_create(const struct metric_rule *rules,
                                         size_t count, struct err *err);
void metric_rules_destroy(struct metric_rules *rules);
uint64_t metric_rules_limited(const struct metric_rules *rules);

struct metric_reader *metric_reader_create(struct metric_rules *rules);
void metric_reader_destroy(struct metric_reader *reader);
void metric_reader_feed(struct metric_reader *reader, const void *bytes,
                        size_t length, metric_fn found, void *user);
/* The file is at its end: a last line without a newline counts. */
void metric_reader_finish(struct metric_reader *reader, metric_fn found,
                          void *user);

/* One JSON line for $SMTUNE_METRICS from "k=v" words; `step=N` is the step.
 * ERR_USAGE names a word that is not NAME=NUMBER. */
int metric_report_line(char *const *words, size_t count, struct buf *out,
                       struct err *err);

#endif
