/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/run_view.h"

static const struct column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"done", NULL, COLUMN_NUMBER, NULL},
    {"trials", NULL, COLUMN_NUMBER, NULL},
    {"best", NULL, COLUMN_NUMBER, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
};

struct listing {
    struct store *store;
    struct output *output;
    struct err *err;
};

static int list_run(void *user, const struct run_row *run)
{
    struct listing *listing = user;
    int64_t pid;
    const char *state = run_state_shown(listing->store, run, &pid);
    int64_t duration_ms = run_duration_ms(run, state);
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(run->id),
        value_text(run->name),
        value_text(state),
        value_int(run_done(run)),
        value_int(run->trials),
        isnan(run->best) || run->objective_count > 1 ? value_null()
                                                     : value_real(run->best),
        value_int(run->started_ms),
        duration_ms < 0 ? value_null() : value_int(duration_ms),
    };

    return output_row(listing->output, cells, listing->err);
}

static int exec_ls(const struct cli *cli, const void *options, char **operands,
                   int count, struct err *err)
{
    struct listing listing = {.err = err};
    int status;

    (void)options, (void)operands, (void)count;
    listing.store = store_open(cli->store, STORE_READ, err);
    if (listing.store == NULL)
        return -1;
    listing.output = output_create(cli, columns, ARRAY_LEN(columns));
    status = store_each_run(listing.store, list_run, &listing, err);
    if (status == 0)
        status = output_finish(listing.output, err);
    else
        output_destroy(listing.output);
    store_close(listing.store);
    return status;
}

const struct cmd cmd_ls = {
    .name = "ls",
    .summary = "list the runs in the store",
    .details = "A run is 'interrupted' when its engine ended without a word, "
               "and 'paused' after 'smtune pause': 'smtune resume' goes on "
               "with it. Of the trials that a run has "
               "so far, 'done' is how many have come to an end. With several "
               "objectives no trial is the best: see 'smtune best'.",
    .examples = "smtune ls                # the newest is the last\n"
                "smtune ls -o json        # for programs\n",
    .exec = exec_ls,
};
