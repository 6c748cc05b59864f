/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drive/log_options.h"

struct cli log_options_apply(const struct cli *cli,
                             const struct log_options *options)
{
    struct cli own = *cli;

    if (options->level != NULL)
        log_setup_set(&own.log, options->level);
    else if (options->file != NULL && !log_setup_is_on(&own.log))
        log_setup_set(&own.log, log_level_names[LOG_INFO]);
    if (options->file != NULL)
        own.log.path = options->file;
    return own;
}

struct cli log_options_shown(const struct cli *cli)
{
    struct cli shown = *cli;

    if (log_setup_is_on(&cli->log) && cli->log.path == NULL)
        shown.err_is_terminal = false;
    return shown;
}
