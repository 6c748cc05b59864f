/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_REPLICATES_H
#define SMTUNE_CLI_SHOW_RUN_REPLICATES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"

/*
 * Settings that were tried several times in a row each (`repeats`): the best is
 * the one with the best mean. One objective.
 *
 * A setting is shown with a trial's columns: the id of its first trial that
 * counts; the mean for its value, its outcomes and its metrics; `deviation`, of
 * a single value (null for one), and `replicates`. Settings with all their
 * trials come before those that lack some.
 */

struct document;

/* Writes the best setting as an object (count 0), or the `count` best as rows.
 * columns: names with commas between; NULL: all. 0, or -1: ERR_USAGE for an
 * unknown column. */
int replicates_show_best(const struct cli *cli, const struct run_view *view,
                         const char *columns, int64_t count, struct err *err);
/* The best setting as the fields "best" of a document; none where there is
 * none. */
int replicates_add_best(struct document *document, const struct run_view *view,
                        struct err *err);

/* A setting and the mean of its objective. */
struct replicates_mean {
    int64_t first; /* the number of its first trial that counts */
    int64_t count; /* how many count */
    double mean;
};

/* The best first; *means is the caller's to free. */
int replicates_rank(const struct run_view *view, struct replicates_mean **means,
                    size_t *count, struct err *err);

#endif
