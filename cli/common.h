/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_COMMON_H
#define SMTUNE_CLI_COMMON_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/cmd.h"
#include "cli/opts.h"

/* The options that every command takes, and what comes of them. */

struct common_options {
    const char *store, *output, *colour;
    bool quiet, help, version;
};

extern const struct opt common_opts[];

/* Fills *cli from options, environment and terminal. -1 (ERR_USAGE) when
 * SMTUNE_OUTPUT or SMTUNE_LOG makes no sense; *cli is usable even then, and is
 * the caller's to clear. */
int common_resolve(const struct common_options *options, struct cli *cli,
                   struct err *err);

/* Frees what common_resolve() allocated. */
void common_clear(struct cli *cli);

#endif
