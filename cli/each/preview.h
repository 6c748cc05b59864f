/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_PREVIEW_H
#define SMTUNE_CLI_EACH_PREVIEW_H

#include "base/err.h"

struct cli;
struct each_lines;
struct spec;

/*
 * The command of each line, to stdout: one in a line, as a shell takes it, or
 * with -o json rows. `spec` is the order's workflow, of a run of that name. 0,
 * or -1.
 */
int each_preview_print(const struct cli *cli, const struct spec *spec,
                       const struct each_lines *lines, const char *name,
                       struct err *err);

#endif
