/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune pause`. Only an engine can be paused, so the command is a request to
 * it; child runs of a workflow get the same request. A run without an engine
 * starts nothing, which is not an error here.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/drive/child_runs.h"
#include "cli/show/run/run_outcome.h"
#include "orchestrator/run/control_link.h"
#include "store/store.h"

struct options {
    bool now;
};

static const struct opt opts[] = {
    {"now", 0, OPT_FLAG, offsetof(struct options, now), NULL,
     "stop running trials too; they restart from their "
     "checkpoints",
     0, NULL},
    {0},
};

static void say(const struct cli *cli, const struct run_outcome *run,
                const struct options *options, bool is_paused)
{
    if (is_paused && !cli->quiet)
        fprintf(stderr,
                "smtune: run '%s' is paused%s (resume it: smtune resume "
                "%s)\n",
                run->name,
                options->now ? ""
                             : "; running trials continue until they finish",
                run->name);
    else if (!is_paused)
        fprintf(stderr, "smtune: run '%s' has no engine and starts no trials\n",
                run->name);
}

static json_t *request(const struct options *options)
{
    return json_pack("{s:s, s:b}", "op", "pause", "now", (int)options->now);
}

static int pause_run(const struct cli *cli, struct store *store,
                     const char *selector, const struct options *options,
                     struct err *err)
{
    struct run_outcome run = {NULL};
    char *directory = NULL;
    int64_t id;
    int result = -1;

    if (store_find_run(store, selector, &id, err) == 0 &&
        run_outcome_read(&run, store, id, err) == 0) {
        directory = store_run_directory(store, run.name);
        result = control_call(directory, request(options), NULL, NULL, err);
        if (result == 0)
            child_runs_tell(store, id, request(options));
        if (result < 0)
            err_prefix(err, "run '%s'", run.name);
        else
            say(cli, &run, options, result == 0);
    }
    free(directory);
    run_outcome_clear(&run);
    return result < 0 ? -1 : 0;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    int result = 0;

    if (store == NULL)
        return -1;
    for (int i = 0; i < count && result == 0; i++)
        result = pause_run(cli, store, operands[i], given, err);
    store_close(store);
    return result;
}

const struct cmd cmd_pause = {
    .name = "pause",
    .operands = "RUN...",
    .summary = "start no new trials until smtune resume",
    .details = "Running trials finish, and their results count. The "
               "engine of the run keeps running, for days if necessary. "
               "The time budget does not count the pause.",
    .examples = "smtune pause mnist          # the machine is needed later\n"
                "smtune pause mnist --now    # the machine is needed now\n"
                "smtune resume mnist\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec,
};
