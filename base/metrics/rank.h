/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_RANK_H
#define SMTUNE_BASE_METRICS_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metric_pair;
struct metric_pairs;

/* Which of several processes (torchrun, mpirun) wrote a line. */

enum { METRIC_RANK_NONE = -1 };

/* The rank that the line begins with: "[rank 3] ", "[rank3]:", "[default3]:",
 * "rank 3: ", "[GPU3] "; METRIC_RANK_NONE: it begins with none. */
int64_t metric_rank_of_line(const char *line, size_t length);

/* Whether a name may be that of a rank. */
bool metric_is_rank(const char *name);

/* Whether a pair has a rank: rank=3. */
bool metric_is_pair_of_rank(const struct metric_pair *pair);

/* The rank that a pair of the line has, {"rank": 3} or "local_rank=3"; as
 * metric_rank_of_line(). */
int64_t metric_rank_of_pairs(const struct metric_pairs *pairs);

/* The form of a line, as a hash: its words and whole numbers, without times,
 * fractions and `value`. Lines that several processes write at one step have
 * the same form; those of one process mostly count something. */
uint32_t metric_line_form(const char *line, size_t length, double value);

#endif
