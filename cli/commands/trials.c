/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune trials`: the trials of an experiment or the jobs of a workflow.
 * Options of the one are refused for the other instead of ignored. */
#include <stddef.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/show/jobs/job_table.h"
#include "cli/show/run/trial_list.h"
#include "orchestrator/job/states.h"
#include "store/read.h"

#define INTERRUPTED "interrupted"

struct options {
    const char *state, *sort, *step, *tag, *columns, *filter;
    int64_t limit;
};

/* Those of the record, and what follows from values and from the engine. */
static const char *const state_choices[] = {
#define X(symbol, word) word,
    JOB_STATES(X)
#undef X
        STATE_NONFINITE,
    INTERRUPTED, NULL};

static const struct opt opts[] = {
    {"state", 's', OPT_CHOICE, offsetof(struct options, state), "STATE",
     "only trials in this state", 0, state_choices},
    {"sort", 0, OPT_TEXT, offsetof(struct options, sort), "COLUMN",
     "best: the best first; or a column, with :desc the largest first", 0,
     NULL},
    {"columns", 0, OPT_TEXT, offsetof(struct options, columns), "NAMES",
     "only these columns, with commas between", 0, NULL},
    {"filter", 0, OPT_TEXT, offsetof(struct options, filter), "EXPR",
     "only trials for which the expression is true", 0, NULL},
    {"step", 0, OPT_TEXT, offsetof(struct options, step), "STEP",
     "only jobs of this step of a workflow", 0, NULL},
    {"tag", 0, OPT_TEXT, offsetof(struct options, tag), "TAG",
     "only trials with this tag", 0, NULL},
    {"limit", 'n', OPT_INT, offsetof(struct options, limit), "N",
     "at most N rows", 1, NULL},
    {0},
};

static bool is_sorted(const struct options *chosen, const char *order)
{
    return chosen->sort != NULL && strcmp(chosen->sort, order) == 0;
}

/* The state in the record of those that are shown in the chosen one. */
static const char *state_in_record(const struct run_view *view,
                                   const char *chosen)
{
    const char *running = job_state_names[JOB_RUNNING];

    if (chosen == NULL)
        return NULL;
    if (strcmp(chosen, STATE_NONFINITE) == 0 && !run_is_workflow(&view->row))
        return job_state_names[JOB_SUCCEEDED];
    if (!run_lacks_engine(view))
        return chosen;
    if (strcmp(chosen, running) == 0)
        return INTERRUPTED; /* which no record has */
    return strcmp(chosen, view->state) == 0 ? running : chosen;
}

struct shown {
    const struct run_view *view;
    const char *state; /* NULL: any */
};

/* By the state that the table shows. */
static enum trial_taken take(void *user, const struct trial_row *trial)
{
    const struct shown *shown = user;

    return shown->state == NULL || strcmp(trial_state_now(shown->view, trial),
                                          shown->state) == 0
               ? TRIAL_TAKE
               : TRIAL_SKIP;
}

static int print_trials(const struct cli *cli, const struct run_view *view,
                        const struct options *chosen, struct err *err)
{
    struct shown shown = {view, chosen->state};
    const struct trial_query query = {
        .run = view->row.id,
        .state = state_in_record(view, chosen->state),
        .tag = chosen->tag,
        .order = is_sorted(chosen, "best") ? ORDER_BEST : ORDER_NUMBER,
    };
    const struct trial_choice choice = {
        .detail = TRIAL_ALL,
        .columns = chosen->columns,
        .filter = chosen->filter,
        .sort = is_sorted(chosen, "best") || is_sorted(chosen, "number")
                    ? NULL
                    : chosen->sort,
        .limit = chosen->limit,
        .take = take,
        .user = &shown,
    };

    if (chosen->step != NULL)
        return err_set(err, ERR_USAGE,
                       "run '%s' is an experiment and has no steps",
                       view->row.name);
    return trial_list_print(cli, view, &query, &choice, err);
}

static int print_jobs(const struct cli *cli, const struct run_view *view,
                      const struct options *chosen, struct err *err)
{
    const struct job_filter filter = {state_in_record(view, chosen->state),
                                      chosen->step, chosen->tag, chosen->limit};

    if (is_sorted(chosen, "best"))
        return err_set(err, ERR_USAGE,
                       "run '%s' is a workflow and has no best job",
                       view->row.name);
    if (chosen->columns != NULL || chosen->filter != NULL ||
        (chosen->sort != NULL && !is_sorted(chosen, "number")))
        return err_set(err, ERR_USAGE,
                       "run '%s' is a workflow: --columns, --filter and "
                       "--sort are for trials",
                       view->row.name);
    return job_table_print(cli, view, &filter, err);
}

static int exec_trials(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    if (status == 0)
        status = (run_is_workflow(&view.row) ? print_jobs : print_trials)(
            cli, &view, options, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_trials = {
    .name = "trials",
    .operands = "RUN",
    .summary = "list the trials of a run, or the jobs of a workflow",
    .details = "RUN is the name of a run, its id, or 'last'.\n\n"
               "With --sort best, feasible trials come first, then "
               "infeasible ones, the least violation first. Trials that "
               "have not ended well come behind them, and failed trials "
               "last. With several objectives the first one decides, and "
               "each must have a finite value.\n\n"
               "The last value of each metric is a column, too: in JSON and "
               "CSV always, in a table where --columns names it. A column's "
               "name is that in CSV. --filter and the sort may use any "
               "column, also one that is not shown; names with other "
               "characters than letters, digits and _ need double quotes in "
               "an expression. Trials without a value come last.\n\n"
               "A trial is 'interrupted' if it was running when the engine "
               "crashed; 'smtune show RUN TRIAL' shows whether it still "
               "runs.\n\n"
               "For a workflow it lists the jobs, the copies and rounds "
               "of its steps, under the names that other commands accept.",
    .examples = "smtune trials last --sort best -n 5      # the five best\n"
                "smtune trials mlp --state failed         # failed trials\n"
                "smtune trials mlp --columns id,val_acc,seconds --sort "
                "val_acc:desc\n"
                "smtune trials mlp --filter 'val_acc > 0.9 and lr < 0.01'\n"
                "smtune trials nightly --step train       # its copies\n"
                "smtune trials mlp --tag good             # by your tag\n"
                "smtune trials mlp -o jsonl | jq .params  # for programs\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_trials,
};
