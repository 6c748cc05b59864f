/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune serve-search`: the search of a run for several programs at once, on a
 * socket; cli/drive/search_session.h has the session.
 */
#include <string.h>

#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/drive/search_session.h"

struct options {
    struct opt_texts set;
    const char *socket;
    const char *record;
    int64_t trials;
};

static const struct opt opts[] = {
    {"socket", 0, OPT_TEXT, offsetof(struct options, socket), "PATH",
     "listen on a socket with that path", 0, NULL},
    {"record", 0, OPT_TEXT, offsetof(struct options, record), "RUN",
     "name of the run to start, or to continue", 0, NULL},
    {"trials", 0, OPT_INT, offsetof(struct options, trials), "N",
     "set the trial budget to N in total", 1, NULL},
    DRIVE_OPT_SET(struct options, set),
    {0},
};

static int check_usage(const struct options *options, struct err *err)
{
    const char *missing = options->socket == NULL   ? "--socket PATH"
                          : options->record == NULL ? "--record RUN"
                                                    : NULL;

    if (missing != NULL)
        return err_set(err, ERR_USAGE,
                       "missing option %s (usage: smtune serve-search FILE "
                       "--socket PATH --record RUN)",
                       missing);
    return 0;
}

static int exec_serve_search(const struct cli *cli, const void *given,
                             char **operands, int count, struct err *err)
{
    const struct options *options = given;
    const struct search_order order = {
        .file = count > 0 ? operands[0] : NULL,
        .set = &options->set,
        .record = options->record,
        .trials = options->trials,
        .socket = options->socket,
    };

    if (check_usage(options, err) != 0)
        return -1;
    return search_session_run(cli, &order, err);
}

const struct cmd cmd_serve_search = {
    .name = "serve-search",
    .operands = "[FILE]",
    .summary = "use one search from several programs (ask and tell)",
    .details = "Any number of clients on this machine connect to the socket "
               "and send the requests of `smtune suggest`, in lines of JSON. "
               "They share one search, which is recorded as a run.\n\n"
               "A trial belongs to the client that asked for it. If the "
               "client disconnects before it reports the result, another "
               "client gets the trial. A result is in the record before its "
               "answer is sent.\n\n"
               "SIGINT or SIGTERM ends the command. The same command "
               "continues the run, with or without FILE.",
    .examples = "smtune serve-search e.yaml --socket /tmp/s --record mnist\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 0,
    .max_operands = 1,
    .exec = exec_serve_search,
};
