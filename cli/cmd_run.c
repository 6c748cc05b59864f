/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "cli/background.h"
#include "cli/cmd.h"
#include "cli/detach.h"
#include "cli/drive.h"
#include "cli/offer.h"
#include "cli/plan.h"
#include "cli/warm.h"
#include "orchestrator/experiment.h"
#include "orchestrator/run.h"
#include "store/store.h"

struct options {
    struct opt_texts set;
    const char *name;
    bool dry_run;
    bool detach;
    bool resume;
    int64_t earlier; /* no option: the run to go on with; 0: a new one */
};

static const struct opt opts[] = {
    DRIVE_OPT_SET(struct options, set),
    {"name", 'n', OPT_TEXT, offsetof(struct options, name), "NAME",
     "the run's name (default: the experiment's, numbered)", 0, NULL},
    {"dry-run", 0, OPT_FLAG, offsetof(struct options, dry_run), NULL,
     "check the file and show the plan; start nothing", 0, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
    {"resume", 'r', OPT_FLAG, offsetof(struct options, resume), NULL,
     "go on with the run of that name, if there is one, without asking", 0,
     NULL},
    {0},
};

/* A new run of the experiment, which it takes over, or the one of the record
 * that is to go on. */
static struct run *open_run(const struct cli *cli,
                            const struct options *options, struct store *store,
                            struct experiment *experiment, int64_t earlier,
                            struct err *err)
{
    struct run *run;

    if (earlier != 0) {
        experiment_destroy(experiment);
        return drive_open(cli, store, earlier, err);
    }
    run = run_create(store, experiment, options->name, options->set.items,
                     options->set.count, err);
    if (run != NULL && !cli->quiet)
        warm_print(stderr, "smtune: ", experiment, run->warm);
    return run;
}

static int run_experiment(const struct cli *cli, const struct options *options,
                          struct experiment *experiment, struct detach *detach,
                          struct err *err)
{
    struct store *store = store_open(cli->store, STORE_CREATE, err);
    struct run *run = NULL;
    int result = -1;

    if (store == NULL)
        experiment_destroy(experiment);
    else
        run = open_run(cli, options, store, experiment, options->earlier, err);
    if (run != NULL &&
        (detach == NULL || background_tell(cli, run, detach, err) == 0))
        result = drive_run(cli, run, err);
    run_close(run);
    store_close(store);
    return result;
}

static int run(const struct cli *cli, const struct options *options,
               struct experiment *experiment, struct err *err)
{
    struct detach detach = {0};
    int result;

    if (!options->detach) {
        result = run_experiment(cli, options, experiment, NULL, err);
    } else if (detach_fork(&detach, err) != 0 || detach.child > 0) {
        experiment_destroy(experiment);
        result = detach.child > 0 ? detach_wait(&detach) : -1;
    } else {
        result = run_experiment(cli, options, experiment, &detach, err);
    }
    return result;
}

static int run_or_resume(const struct cli *cli, struct options *options,
                         struct experiment *experiment, struct err *err)
{
    const struct offer offer = {experiment, options->name, &options->set,
                                options->resume};
    enum offer_answer answer =
        offer_resume(cli, &offer, &options->earlier, err);

    if (answer == OFFER_NEW || answer == OFFER_RESUME)
        return run(cli, options, experiment, err);
    experiment_destroy(experiment);
    return answer == OFFER_ERROR ? -1 : 0;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    struct options options = *(const struct options *)given;
    struct experiment *experiment;
    int result = drive_load(cli, operands[0], &options.set, &experiment, err);

    (void)count;
    if (result != 0)
        return result;
    if (!options.dry_run)
        return run_or_resume(cli, &options, experiment, err);
    result = plan_print(cli, experiment, PLAN_TRIALS_SHOWN, err);
    experiment_destroy(experiment);
    return result;
}

const struct cmd cmd_run = {
    .name = "run",
    .operands = "FILE",
    .summary = "run an experiment",
    .details =
        "Tries settings of the file's parameters until its budget is used. "
        "Progress goes to stderr; in the end the best trials are shown.\n\n"
        "Ctrl-C once starts no more trials and lets the running ones end, "
        "twice ends them, three times kills them; smtune resume goes on with "
        "the run after any of these, and after a crash. So does another "
        "smtune run of the same file: on a terminal it asks, and with --resume "
        "it goes on without asking.\n\n"
        "Exit status: 0 done; 1 the run failed; 3 the file is wrong; 6 the "
        "target was not reached, or no trial succeeded; 130 or 143 stopped.",
    .examples =
        "smtune run experiment.yaml\n"
        "smtune run experiment.yaml --set budget.trials=100 --name long\n"
        "smtune run experiment.yaml --detach    # and smtune status later\n"
        "smtune run experiment.yaml --resume    # start it, or go on with it\n"
        "smtune run experiment.yaml --dry-run   # only show the plan\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec,
};
