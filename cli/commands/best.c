/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune best`: the best trial, the best trials, or the Pareto front.
 *
 * "Best" has one definition, the order of the store (ORDER_BEST), in which
 * infeasible trials and those without a finite value come last. Printing stops
 * there. If nothing qualifies, the message explains why: a workflow,
 * constraints that no trial satisfies, or no success yet.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/show/run/best_command.h"
#include "cli/show/run/front_view.h"
#include "cli/show/run/replicates.h"
#include "cli/show/run/trial_list.h"
#include "orchestrator/job/workspace.h"

struct options {
    int64_t count;
    const char *columns;
    bool checkpoints, command, with_secrets;
};

static const struct opt opts[] = {
    {"count", 'n', OPT_INT, offsetof(struct options, count), "N",
     "show the N best trials; in JSON as a list", 1, NULL},
    {"columns", 0, OPT_TEXT, offsetof(struct options, columns), "NAMES",
     "only these columns, with commas between", 0, NULL},
    {"checkpoints", 0, OPT_FLAG, offsetof(struct options, checkpoints), NULL,
     "print only the folder of its checkpoints", 0, NULL},
    {"command", 0, OPT_FLAG, offsetof(struct options, command), NULL,
     "print only its command, to run it again", 0, NULL},
    {"with-secrets", 0, OPT_FLAG, offsetof(struct options, with_secrets), NULL,
     "with --command: show secrets as they are", 0, NULL},
    {0},
};

static int keep_number(void *user, const struct trial_row *trial)
{
    *(int64_t *)user = trial->number;
    return 0;
}

/* The closest of those that broke a constraint. */
static int no_feasible(const struct run_view *view, struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .order = ORDER_BEST,
                                      .state = "succeeded",
                                      .limit = 1};
    int64_t closest = 0;

    if (store_each_trial(view->store, &query, keep_number, &closest, err) != 0)
        return -1;
    return err_set(err, ERR_NOT_FOUND,
                   "no trial of run '%s' satisfies its constraints on metrics "
                   "yet (trial %" PRId64 " is closest: smtune show %s %" PRId64
                   ")",
                   view->row.name, closest, view->row.name, closest);
}

static int keep_name(void *user, const struct run_row *run)
{
    char **name = user;

    if (strcmp(run->kind, "experiment") == 0 && run->best_trial > 0) {
        free(*name);
        *name = mem_copy_string(run->name);
    }
    return 0;
}

/* A workflow has no trials, but those of the experiments below it. */
static int not_of_workflow(const struct run_view *view, struct err *err)
{
    char *below = NULL;

    if (store_each_child_run(view->store, view->row.id, keep_name, &below,
                             err) == 0)
        err_set(err, ERR_USAGE,
                "run '%s' is a workflow and has no best trial (show its "
                "steps: smtune status %s%s%s)",
                view->row.name, view->row.name,
                below != NULL
                    ? "; show the best trial of a child run: smtune best "
                    : "",
                below != NULL ? below : "");
    free(below);
    return -1;
}

static int no_best(const struct run_view *view, struct err *err)
{
    if (run_is_workflow(&view->row))
        return not_of_workflow(view, err);
    if (view->row.infeasible > 0)
        return no_feasible(view, err);
    return err_set(err, ERR_NOT_FOUND,
                   "no trial of run '%s' has succeeded with a finite value of "
                   "'%s' yet",
                   view->row.name, view->metrics[0]);
}

/* Trials that are infeasible or without a finite value come behind. */
static enum trial_taken take(void *user, const struct trial_row *trial)
{
    (void)user;
    return trial->value_count == 0 || !isfinite(trial->values[0]) ||
                   trial->violation > 0.0
               ? TRIAL_END
               : TRIAL_TAKE;
}

/* With one objective: the first of the order, as an object or as rows. */
static int show_best(const struct cli *cli, const struct run_view *view,
                     const struct options *chosen, struct err *err)
{
    const struct trial_query query = {
        .run = view->row.id, .order = ORDER_BEST, .state = "succeeded"};
    const struct trial_choice choice = {.detail = TRIAL_SETTING,
                                        .columns = chosen->columns,
                                        .limit = chosen->count,
                                        .is_object = chosen->count == 0,
                                        .take = take};

    return trial_list_print(cli, view, &query, &choice, err);
}

/* With several objectives: all trials that no other one beats in each. */
static int show_front(const struct cli *cli, const struct run_view *view,
                      const struct options *chosen, struct err *err)
{
    struct front_view *front = front_view_create(view, err);
    int status = front == NULL ? -1 : 0;

    if (status == 0 && front_view_count(front) == 0)
        status = no_best(view, err);
    if (status == 0)
        status =
            front_view_print(front, cli, chosen->count, chosen->columns, err);
    fflush(stdout);
    if (status == 0 && !cli->quiet)
        front_view_print_size(front, stderr);
    if (status == 0 && !cli->quiet && cli->output == OUTPUT_TABLE)
        front_view_plot(front, cli);
    front_view_destroy(front);
    return status;
}

/* With several objectives: of the best in the first. */
static int print_checkpoints(const struct run_view *view, struct err *err)
{
    char *run = store_run_directory(view->store, view->row.name);
    char *path = workspace_checkpoint_directory(run, view->row.best_trial);
    int status = 0;

    if (fs_exists(path))
        puts(path);
    else
        status = err_set(err, ERR_NOT_FOUND,
                         "trial %" PRId64 " of run '%s' saved no checkpoints",
                         view->row.best_trial, view->row.name);
    free(path);
    free(run);
    return status;
}

static int show_best_setting(const struct cli *cli, const struct run_view *view,
                             const struct options *chosen, struct err *err)
{
    return view->row.repeats > 1
               ? replicates_show_best(cli, view, chosen->columns, chosen->count,
                                      err)
               : show_best(cli, view, chosen, err);
}

static int exec_best(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    struct cli own = *cli;
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    own.with_secrets = chosen->with_secrets;
    if (status == 0 && chosen->with_secrets && !chosen->command)
        status = err_set(err, ERR_USAGE, "--with-secrets requires --command");
    else if (status == 0 && view.row.best_trial == 0)
        status = no_best(&view, err);
    else if (status == 0 && chosen->checkpoints)
        status = print_checkpoints(&view, err);
    else if (status == 0 && chosen->command)
        status = best_command_print(&own, &view, err);
    else if (status == 0 && view.objective_count > 1)
        status = show_front(cli, &view, chosen, err);
    else if (status == 0)
        status = show_best_setting(cli, &view, chosen, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_best = {
    .name = "best",
    .operands = "RUN",
    .summary = "show the best trial of a run and its setting",
    .details =
        "The best trial is a successful, feasible trial with a "
        "finite value. With several objectives the result is the "
        "Pareto front: all trials that no other trial beats in one "
        "objective without being worse in another. A plot shows "
        "two objectives. With `repeats`, settings are "
        "compared by the mean of their trials. Their metrics "
        "are means, too, and the deviation of a single trial is "
        "shown. Settings with missing trials come last.\n\n"
        "--command prints the command of the trial with its "
        "values, ready for bash: in the container or the conda "
        "environment of the trial, and as its ranks. With a schedule it "
        "runs to the last resource. It expects to start in the folder that "
        "`smtune show` prints. In place of the folders of the trial "
        "it gets new ones, RUN-TRIAL and RUN-TRIAL/checkpoints in the "
        "current folder, so it trains from the beginning. Values of "
        "variables and options whose names are those of secrets are masked; "
        "--with-secrets shows them. Variables of env_from must be set, and "
        "env_file must be a file that a shell can read.",
    .examples = "smtune best last                        # the best "
                "setting\n"
                "smtune best mlp -n 5                    # the five best\n"
                "smtune best mlp -o json | jq .params.lr # for programs\n"
                "smtune best mlp --checkpoints           # its model\n"
                "smtune best mlp --command | bash        # run it again\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_best,
};
