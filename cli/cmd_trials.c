/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/trial_table.h"
#include "orchestrator/states.h"

struct options {
    const char *state, *sort;
    int64_t limit;
};

static const char *const orders[] = {"number", "best", NULL};

static const struct opt opts[] = {
    {"state", 's', OPT_CHOICE, offsetof(struct options, state), "STATE",
     "only trials in this state", 0, job_state_names},
    {"sort", 0, OPT_CHOICE, offsetof(struct options, sort), "ORDER",
     "number (the default), or best first", 0, orders},
    {"limit", 'n', OPT_INT, offsetof(struct options, limit), "N",
     "at most so many", 1, NULL},
    {0},
};

static int exec_trials(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    struct run_view view;
    struct trial_table table;
    struct trial_query query = {
        .state = chosen->state,
        .limit = chosen->limit,
        .order = chosen->sort != NULL && strcmp(chosen->sort, "best") == 0
                     ? ORDER_BEST
                     : ORDER_NUMBER,
    };
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    if (status == 0) {
        query.run = view.row.id;
        trial_table_init(&table, cli, &view, TRIAL_ALL, err);
        status =
            store_each_trial(view.store, &query, trial_table_row, &table, err);
        if (status == 0)
            status = trial_table_finish(&table, err);
        trial_table_clear(&table);
    }
    run_view_close(&view);
    return status;
}

const struct cmd cmd_trials = {
    .name = "trials",
    .operands = "RUN",
    .summary = "list the trials of a run",
    .details =
        "RUN is a run's name, its id, or 'last'.\n"
        "\n"
        "With --sort best, feasible trials come first, then those that broke "
        "a constraint on an outcome, by how much; trials without a finite "
        "value come last. With several objectives the first one decides.",
    .examples = "smtune trials last --sort best -n 5      # the five best\n"
                "smtune trials mlp --state failed         # what went wrong\n"
                "smtune trials mlp -o jsonl | jq .params  # for programs\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_trials,
};
