/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_FILE_DIFFERENCE_H
#define SMTUNE_CLI_DRIVE_FILE_DIFFERENCE_H

#include <stdint.h>

struct cli;
struct store;

/* Warns where the file that a run was started from differs from what the run
 * goes on with, and names the keys. Nothing where it cannot be read. */
void file_difference_warn(const struct cli *cli, struct store *store,
                          int64_t run);

#endif
