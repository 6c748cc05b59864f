/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune ls`. The store returns a child run right after its parent, so the
 * depth of a row follows from a stack of the runs above it. A table shows the
 * depth by indentation, other formats by the parent's id.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/show/jobs/notes_and_tags.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"done", NULL, COLUMN_NUMBER, NULL},
    {"trials", NULL, COLUMN_NUMBER, NULL},
    {"cached", NULL, COLUMN_NUMBER, NULL},
    {"best", NULL, COLUMN_NUMBER, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
    {"parent", NULL, COLUMN_NUMBER, NULL}, /* a table shows it by indenting */
};

enum { PARENT = ARRAY_LEN(columns) - 1, MAX_DEPTH = 16, INDENT = 2 };

struct options {
    const char *tag;
};

static const struct opt opts[] = {
    {"tag", 0, OPT_TEXT, offsetof(struct options, tag), "TAG",
     "only runs with this tag", 0, NULL},
    {0},
};

struct listing {
    struct store *store;
    const char *tag; /* NULL: all */
    struct output *output;
    struct err *err;
    int64_t above[MAX_DEPTH]; /* [depth] the last run and those it is below */
    int depth;
    bool is_table;
};

/* Runs come right behind the one that they are below. */
static int find_depth(struct listing *listing, const struct run_row *run)
{
    int depth = listing->depth;

    while (depth > 0 && listing->above[depth - 1] != run->parent_id)
        depth--;
    if (depth < MAX_DEPTH)
        listing->above[depth] = run->id;
    listing->depth = depth < MAX_DEPTH ? depth + 1 : depth;
    return depth;
}

static int print_run(struct listing *listing, const struct run_row *run)
{
    int64_t pid;
    const char *state = run_state_shown(listing->store, run, &pid);
    int64_t duration_ms = run_duration_ms(run, state);
    int depth = find_depth(listing, run);
    char *name = mem_printf("%*s%s", listing->is_table ? INDENT * depth : 0, "",
                            run->name);
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(run->id),
        value_text(name),
        value_text(state),
        value_int(run_done(run)),
        value_int(run->trials),
        value_int_if(run_is_workflow(run), run->cached),
        isnan(run->best) || run->objective_count > 1 ? value_null()
                                                     : value_real(run->best),
        value_int(run->started_ms),
        value_int_unless(duration_ms, -1),
        value_int_unless(run->parent_id, 0),
    };
    int status = output_row(listing->output, cells, listing->err);

    free(name);
    return status;
}

static int list_run(void *user, const struct run_row *run)
{
    struct listing *listing = user;

    return listing->tag == NULL || notes_and_tags_has(run->tags, listing->tag)
               ? print_run(listing, run)
               : 0;
}

static int exec_ls(const struct cli *cli, const void *options, char **operands,
                   int count, struct err *err)
{
    const struct options *chosen = options;
    struct listing listing = {.tag = chosen->tag,
                              .err = err,
                              .is_table = cli->output == OUTPUT_TABLE};
    int status;

    (void)operands, (void)count;
    listing.store = store_open(cli->store, STORE_READ, err);
    if (listing.store == NULL)
        return -1;
    listing.output = output_create(
        cli, columns, listing.is_table ? PARENT : ARRAY_LEN(columns));
    output_when_empty(listing.output, "no runs");
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
    .details = "A run is 'interrupted' if its engine crashed, and "
               "'paused' after 'smtune pause'. Continue both with 'smtune "
               "resume'. 'done' is the number of trials that have ended, and "
               "'cached' that of a workflow's jobs that were cache hits. "
               "With several objectives there is no best trial: see "
               "'smtune best'. A child run follows the run of its "
               "workflow.",
    .examples = "smtune ls                # the newest is the last\n"
                "smtune ls --tag baseline # see smtune tag\n"
                "smtune ls -o json        # for programs\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .exec = exec_ls,
};
