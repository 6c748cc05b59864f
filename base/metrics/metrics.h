/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_METRICS_H
#define SMTUNE_BASE_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * Finds metrics in what a trial writes. Bytes go in as they come, in any
 * pieces; out come (name, step, value). Memory is bounded whatever is fed:
 * of a line longer than 64 KiB the rest is skipped (and the word that was cut
 * in two), of more than 1000 names the later ones; NUL and binary bytes are
 * just bytes. A carriage return ends a line too. Escape sequences for colours
 * are taken out first.
 *
 * Built-in patterns, used where no regex is given: NAME=NUMBER and
 * NAME: NUMBER anywhere in a line, with blanks around the sign or none, and
 * with the name in quotes (so Python's dicts are read too); and lines that are
 * one JSON object, whose numeric members are metrics: nan, inf and null
 * (which is nan) included, also as "nan", "inf" and "-inf", nested values not.
 * A name is [A-Za-z_][A-Za-z0-9_./-]*. NUMBER is decimal (1, -1.5e-3, .5, 5.)
 * or nan, inf, infinity in any case, with a sign. What goes on with a letter,
 * a digit or '_' is none (0x10, 12ms, 1_000), nor is a piece of a date, a time
 * or a version (1.2.3); 93.5% and 3/10 are 93.5 and 3.
 *
 * A line with "[rank N]" in front is passed over unless N is 0: the ranks of a
 * program mostly say the same, and it is to count once.
 *
 * The step of a metric is that of a member or pair of the same line called
 * step, epoch, iteration or iter (the first of these that is there, without
 * case, and is a whole number), which is then no metric itself unless a rule
 * names it; else one more than that metric's last step, from 1 (or from behind
 * the step that its reader was made with).
 */

struct metric_rule {
    const char *name;
    const char *regex; /* PCRE2, its first match in a line; first group is the
                          number (or named group `value`; a group named
                          `step` is the step); NULL: the built-in patterns,
                          for this name alone */
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
 * nothing in that line.
 */
struct metric_rules *metric_rules_create(const struct metric_rule *rules,
                                         size_t count, struct err *err);
void metric_rules_destroy(struct metric_rules *rules);

/* rules NULL: nothing is found. last_step: where the writer goes on; 0: it
 * begins. */
struct metric_reader *metric_reader_create(struct metric_rules *rules,
                                           int64_t last_step);
void metric_reader_destroy(struct metric_reader *reader);
/* A metric that always has a place; others have one while there are fewer than
 * 1000 names. To be called before the first byte. */
void metric_reader_reserve(struct metric_reader *reader, const char *name);
/* How many values were found that had no place. */
int64_t metric_reader_left_out(const struct metric_reader *reader);
void metric_reader_feed(struct metric_reader *reader, const void *bytes,
                        size_t length, metric_fn found, void *user);
/* The file is at its end: a last line without a newline counts. */
void metric_reader_finish(struct metric_reader *reader, metric_fn found,
                          void *user);

/* Appends one JSON line for $SMTUNE_METRICS, with its newline, from "k=v"
 * words; `step=N` is the step. ERR_USAGE names a word that is not
 * NAME=NUMBER. */
int metric_report_line(char *const *words, size_t count, struct buf *out,
                       struct err *err);

#endif
