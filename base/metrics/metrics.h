/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_METRICS_H
#define SMTUNE_BASE_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * Finds metrics in the output of a trial. Bytes go in as they come, in any
 * pieces; out come (name, step, value). Memory is bounded whatever is fed: of a
 * line longer than 64 KiB the rest is skipped (and the word that was cut in
 * two), of more than 1000 names the later ones; NUL and binary bytes are just
 * bytes. Escape sequences of terminals are taken out first.
 *
 * Built-in patterns, used where no regex is given: NAME=NUMBER and
 * NAME: NUMBER anywhere in a line, with blanks around the sign or none, with
 * the name in quotes too (Python's dicts); and lines that are one JSON object,
 * whose numeric members are metrics: a nested one is OUTER/INNER, null is nan.
 * base/metrics/name.h has the form of a name, number.h that of a number.
 *   A word like train, val or test before a name belongs to it: "Val loss: 0.3"
 * is val_loss. Names that are asked for are found in more forms: with other
 * case or another separator, before a blank or a line of a table in place of
 * the sign, and as columns of a table.
 *
 * A line of another rank than 0 is ignored: it begins with "[rank 3]" or the
 * like, or has a pair rank=3 where an earlier line had rank=0.
 *
 * The step of a metric is the number that its line names (base/metrics/step.h);
 * else, in text, that of the last line that named one ("Epoch 3/9" above its
 * metrics); else one more than the metric's last step, from 1 or from behind
 * the step that its reader was made with. A step may have a fraction.
 *   What names no step of its own makes no second unit of a step: a refresh of
 * a progress bar, a line that ends with a carriage return, replaces the one
 * before; a name counts once in a line; "best loss=1" beside "loss=2" does not
 * count, nor does a value that another sentence repeats.
 */

struct metric_rule {
    const char *name;
    const char *regex; /* PCRE2, its first match in a line; first group is the
                          number (or named group `value`; a group named
                          `step` is the step); NULL: the built-in patterns,
                          for this name alone */
};

/* A point of a metric's curve. */
struct metric_point {
    const char *name;
    double step;
    double value;
    bool is_counted; /* nothing names the step: it is a number of lines */
};

struct metric_rules; /* compiled once, shared by many readers */
struct metric_reader;

typedef void (*metric_fn)(void *user, const struct metric_point *point);

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
/* The name is asked for, in addition to all others, unless a rule has it. */
void metric_rules_ask(struct metric_rules *rules, const char *name);
/* The name of the resource that steps count, which a schedule gives. */
void metric_rules_set_resource(struct metric_rules *rules, const char *name);

/* rules NULL: nothing is found. last_step: the step that the writer continues
 * from; 0: it begins. */
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

/* Values of a metric that several processes of one program wrote. */
struct metric_several {
    const char *name;   /* the reader's */
    int64_t left_out;   /* values on lines of another rank than 0 */
    int64_t other_rank; /* of the first of them */
    int64_t doubled;    /* values in place of others of their step, on lines
                           that name no rank */
    double step, replaced, value; /* the last such */
};

/* Whether there are many such values, of a metric that has a place reserved. */
bool metric_reader_several(const struct metric_reader *reader,
                           struct metric_several *several);
/* The file is at its end. is_whole: its writer came to its end, too, so a last
 * line without a newline counts, and the last state of a progress bar. */
void metric_reader_finish(struct metric_reader *reader, bool is_whole,
                          metric_fn found, void *user);

/* Appends one JSON line for $SMTUNE_METRICS, with its newline, from "k=v"
 * words; `step=N` is the step. ERR_USAGE names a word that is not
 * NAME=NUMBER. */
int metric_report_line(char *const *words, size_t count, struct buf *out,
                       struct err *err);

#endif
