/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_SCRIPT_H
#define SMTUNE_CLI_PLAN_SCRIPT_H

#include <stdint.h>

#include "base/err.h"

struct cli;
struct spec;

/*
 * `smtune plan --script`: what would be submitted for the first `shown` trials
 * (0: 1), or for each step that runs on a cluster, with the command and the
 * variables of the file. Secrets are masked, unless cli->with_secrets. 0, or -1
 * where nothing of the file would be submitted.
 */
int plan_script_print(const struct cli *cli, const struct spec *spec,
                      int64_t shown, struct err *err);

#endif
