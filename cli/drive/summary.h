/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_SUMMARY_H
#define SMTUNE_CLI_DRIVE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cli;
struct store;

/*
 * What a run came to, for people: how it ended, its best trials as a table and
 * the best so far as a plot, to stdout; why the first trial failed, where none
 * succeeded, and the commands to try next, to stderr (not with -q). Everything
 * is read from the record. 0, or -1.
 */
int summary_print(const struct cli *cli, struct store *store, int64_t run,
                  struct err *err);

#endif
