/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_REPEAT_MEANS_H
#define SMTUNE_CLI_DRIVE_REPEAT_MEANS_H

#include <stdbool.h>
#include <stdint.h>

/* The means of settings that are tried several times each (`repeats`), while
 * trials end: the best is as in cli/show/run/replicates.h. */

struct repeat_means;

struct repeat_mean {
    int64_t first; /* the number of its first trial; 0: there is none */
    int64_t count; /* of its trials that count */
    double mean;
};

/* repeats: how many trials a setting has. */
struct repeat_means *repeat_means_create(int64_t repeats, bool maximize);
/* NULL is nothing. */
void repeat_means_destroy(struct repeat_means *means);

/* A trial succeeded, is feasible, and has that finite value. Whether its
 * setting is now the best, and was not before. */
bool repeat_means_add(struct repeat_means *means, int64_t number, double value);
struct repeat_mean repeat_means_best(const struct repeat_means *means);

#endif
