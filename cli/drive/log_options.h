/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_LOG_OPTIONS_H
#define SMTUNE_CLI_DRIVE_LOG_OPTIONS_H

#include <stddef.h>

#include "cli/cmd.h"

/* The options of commands that run an engine, for its log (base/log.h). They
 * override SMTUNE_LOG. */

struct log_options {
    const char *file, *level; /* NULL: not given */
};

#define LOG_OPTIONS(type, member)                                              \
    {"log",    0,                                                              \
     OPT_TEXT, offsetof(type, member) + offsetof(struct log_options, file),    \
     "FILE",   "append a log of the engine to a file (SMTUNE_LOG)",            \
     0,        NULL},                                                          \
    {                                                                          \
        "log-level", 0, OPT_CHOICE,                                            \
            offsetof(type, member) + offsetof(struct log_options, level),      \
            "LEVEL", "level of the log: off, error, warning, info or debug",   \
            0, log_level_names                                                 \
    }

/* A copy of *cli with what the options ask for. A file alone means level info;
 * a level alone goes to SMTUNE_LOG's file, or to standard error. */
struct cli log_options_apply(const struct cli *cli,
                             const struct log_options *options);

/* A copy of *cli for what an engine shows: a panel would be drawn over a log
 * that goes to the same terminal, so there is none then. */
struct cli log_options_shown(const struct cli *cli);

#endif
