/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_NUMBER_H
#define SMTUNE_BASE_METRICS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers as programs print them; no state. */

/*
 * The number that starts at `text`, before `end`: its length in bytes, 0 where
 * there is none. Decimal (1, -1.5e-3, .5, 5.) or nan, inf, infinity in any
 * case, with a sign. 1,234,567 and 1,234.5 have separators of thousands, 0,52
 * has a decimal comma. 1,234 may be either and is no number. A number is never
 * cut: 0x10, 12ms, 1_000, 1 234,5, lists, dates, times and versions are none.
 */
size_t metric_scan_number(const char *text, const char *end, double *value);

/* The length of a number such as 1 234,5 at `at`, whose blank may also part two
 * numbers; 0: there is none. */
size_t metric_blank_groups(const char *at, const char *end);

/* Whether all that is there is one. */
bool metric_is_number(const char *text, const char *end, double *value);

/*
 * As metric_scan_number(), and what libraries print around a number: quotes
 * ('3.5'), a list of one ([3.5]), tensor(3.5), np.float64(3.5),
 * Array(3.5, dtype=float32), <tf.Tensor: shape=(), numpy=3.5>.
 */
size_t metric_scan_value(const char *text, const char *end, double *value);

bool metric_is_digit(char c);
/* A letter of ASCII or '_'. */
bool metric_is_letter(char c);
/* A blank or a tab. */
bool metric_is_blank(char c);
/* Where there is none any more. */
const char *metric_skip_blanks(const char *at, const char *end);

#endif
