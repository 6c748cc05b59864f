/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune suggest`: requests and answers as lines of JSON on standard input and
 * output; cli/drive/search_session.h has the session.
 */
#include <string.h>

#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/drive/search_session.h"

struct options {
    struct opt_texts set;
    const char *record;
    int64_t trials;
    bool stdio;
};

static const struct opt opts[] = {
    {"stdio", 0, OPT_FLAG, offsetof(struct options, stdio), NULL,
     "read requests from standard input, answer on standard "
     "output",
     0, NULL},
    {"record", 0, OPT_TEXT, offsetof(struct options, record), "RUN",
     "record the trials as a run, or continue that run", 0, NULL},
    {"trials", 0, OPT_INT, offsetof(struct options, trials), "N",
     "with --record: set the trial budget to N in total", 1, NULL},
    DRIVE_OPT_SET(struct options, set),
    {0},
};

static int check_usage(const struct options *options, const char *file,
                       struct err *err)
{
    if (!options->stdio)
        return err_set(err, ERR_USAGE,
                       "missing option --stdio (usage: smtune suggest --stdio "
                       "FILE)");
    if (file != NULL && strcmp(file, "-") == 0)
        return err_set(err, ERR_USAGE,
                       "suggest: FILE cannot be -, because requests come from "
                       "standard input");
    if (file == NULL && options->record == NULL)
        return err_set(err, ERR_USAGE,
                       "suggest: missing operand FILE (usage: smtune suggest "
                       "--stdio FILE)");
    if (options->trials > 0 && options->record == NULL)
        return err_set(err, ERR_USAGE,
                       "suggest: --trials needs --record: without a run, no "
                       "budget ends the search");
    return 0;
}

static int exec_suggest(const struct cli *cli, const void *given,
                        char **operands, int count, struct err *err)
{
    const struct options *options = given;
    const struct search_order order = {
        .file = count > 0 ? operands[0] : NULL,
        .set = &options->set,
        .record = options->record,
        .trials = options->trials,
    };

    if (check_usage(options, order.file, err) != 0)
        return -1;
    return search_session_run(cli, &order, err);
}

const struct cmd cmd_suggest = {
    .name = "suggest",
    .operands = "[FILE]",
    .summary = "use the search from your own program (ask and tell)",
    .details = "Your program runs the trials. It asks for settings and "
               "reports results in lines of JSON, and gets a line of JSON "
               "for each:\n\n"
               " {\"op\":\"ask\",\"n\":1}\n"
               "   {\"trials\":[{\"id\":1,\"params\":{\"lr\":0.01}}]}\n"
               " {\"op\":\"tell\",\"id\":1,\"value\":0.3}\n"
               "   {\"ok\":true}\n"
               " {\"op\":\"tell\",\"id\":1,\"state\":\"failed\"}\n"
               "   {\"ok\":true}\n"
               " {\"op\":\"observe\",\"id\":1,\"step\":3,\"value\":0.4}\n"
               "   {\"decision\":\"continue\"}\n"
               " {\"op\":\"best\"}\n"
               "   {\"id\":1,\"value\":0.3,\"params\":{\"lr\":0.01}}\n"
               " {\"op\":\"why\",\"id\":1}\n"
               "   {\"id\":1,\"method\":\"sobol\", ...}\n"
               " an invalid request\n"
               "   {\"error\":\"...\"}\n\n"
               "Values are in the direction of the objective. A null or "
               "non-finite value means that the trial failed. With "
               "several objectives use \"values\" in place of \"value\", "
               "and \"best\" returns the \"front\". With constraints on "
               "metrics, \"constraints\" is a list of numbers, feasible "
               "at 0 or below. Any number of trials may be open. If no "
               "setting is left, the answer contains \"exhausted\". The "
               "session ends with the input. FILE needs no `trial`. "
               "\"tell\" with \"params\" in place of \"id\" takes the "
               "result of another setting.\n\n"
               "Without --record nothing is recorded, and the budget of "
               "FILE is used to plan the search and does not end it. With "
               "--record the trials are those of a run, which its budget "
               "ends. A result is in the record before its answer is "
               "sent. If the run exists, the session continues it, and "
               "FILE may be left out. Trials without a result are "
               "returned again by \"ask\".\n\n"
               "With a schedule, a trial has a \"budget\", the resource "
               "up to which to run it. A promoted trial is returned "
               "again, as \"resumed\". The answers to \"observe\" and \"tell\" "
               "contain the decision \"pause\", \"stop\" or \"continue\". "
               "The answer to \"ask\" contains \"waiting\" if the search "
               "needs results first, or \"done\".",
    .examples =
        "smtune suggest --stdio experiment.yaml\n"
        "smtune suggest --stdio --record mnist experiment.yaml\n"
        "echo '{\"op\":\"ask\",\"n\":3}' | smtune suggest --stdio e.yaml\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 0,
    .max_operands = 1,
    .exec = exec_suggest,
};
