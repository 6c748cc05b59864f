/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_FRONT_VIEW_H
#define SMTUNE_CLI_SHOW_RUN_FRONT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct cli;
struct document;
struct run_view;

/* A run's Pareto front as the commands that read the record show it. */
struct front_view;

/* view is borrowed. NULL with err. */
struct front_view *front_view_create(const struct run_view *view,
                                     struct err *err);
void front_view_destroy(struct front_view *front);
size_t front_view_count(const struct front_view *front);
bool front_view_has(const struct front_view *front, int64_t trial);

/* Its trials as rows, the best of the first objective first; at most `limit`,
 * 0: all. columns: as in trial_list.h. */
int front_view_print(struct front_view *front, const struct cli *cli,
                     int64_t limit, const char *columns, struct err *err);
/* The same as the list "front" of a document, of which people see a few, and
 * the part "front_size": count, hypervolume, and its reference point. */
int front_view_add(struct front_view *front, struct document *document,
                   const struct cli *cli, struct err *err);
/* How many trials there are on it, and its hypervolume, in a line. */
void front_view_print_size(const struct front_view *front, FILE *file);
/* A picture of the first two objectives to standard output. */
void front_view_plot(const struct front_view *front, const struct cli *cli);

#endif
