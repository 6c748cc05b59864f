/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_NAME_H
#define SMTUNE_BASE_METRICS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Names of metrics in a line: where they begin, and which are the same. */

enum { METRIC_NAME_MAX = 128 };

/* Whether it is a name that needs no quotes: letters, digits and _ . / - @, a
 * letter or _ first, METRIC_NAME_MAX bytes at most. Letters beyond ASCII (in
 * UTF-8) are letters. */
bool metric_is_name(const char *text, size_t length);
/* Whether it is a name in quotes: of 1 to METRIC_NAME_MAX bytes, without
 * control characters, no blank first or last. */
bool metric_is_quoted_name(const char *text, size_t length);

/* Where the characters of a name before `at` begin, not before `line`. */
const char *metric_name_start(const char *line, const char *at);
/* Whether a name may begin or end at `at`: no character of a name is before,
 * or is there. */
bool metric_name_may_begin(const char *line, const char *at);
bool metric_name_may_end(const char *at, const char *end);

/* Equal but for case, and for which of blank _ . / - parts words. */
bool metric_names_match(const char *a, const char *b, size_t length);

/*
 * How many bytes before the name belong to it: "Train " of "Train loss",
 * "valid_0's " of "valid_0's auc"; 0 for any other word.
 */
size_t metric_name_lead(const char *line, const char *name);

/* Whether the word before the name makes the value another one than that of
 * this moment: best, previous, lowest ... */
bool metric_is_of_best(const char *line, const char *name);

#endif
