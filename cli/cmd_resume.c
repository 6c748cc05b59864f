/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/drive.h"
#include "orchestrator/run.h"
#include "orchestrator/states.h"
#include "store/store.h"

static int copy_state(void *user, const struct run_row *row)
{
    char **state = user;

    *state = mem_copy_string(row->state);
    return 0;
}

static int resume(const struct cli *cli, struct store *store,
                  const char *selector, struct err *err)
{
    char *state = NULL;
    struct run *run;
    int64_t id;
    int result = -1;

    if (store_find_run(store, selector, &id, err) != 0 ||
        store_get_run(store, id, copy_state, &state, err) != 0)
        return -1;
    if (strcmp(state, run_state_names[RUN_SUCCEEDED]) == 0) {
        fprintf(stderr,
                "smtune: run '%s' has ended; there is nothing left to "
                "do\n",
                selector);
        result = 0;
    } else if ((run = drive_open(cli, store, id, err)) != NULL) {
        result = drive_run(cli, run, err);
        run_close(run);
    }
    free(state);
    return result;
}

static int exec(const struct cli *cli, const void *options, char **operands,
                int count, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    int result;

    (void)options;
    (void)count;
    if (store == NULL)
        return -1;
    result = resume(cli, store, operands[0], err);
    store_close(store);
    return result;
}

const struct cmd cmd_resume = {
    .name = "resume",
    .operands = "RUN",
    .summary = "go on with a run that was stopped or whose engine died",
    .details =
        "Trials that still run are taken over, those that ended meanwhile are "
        "counted, those that were interrupted start again with their "
        "checkpoints, and the rest follows as if nothing had happened.",
    .examples = "smtune resume mnist\n"
                "smtune resume last\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec,
};
