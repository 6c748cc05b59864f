/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune nodes`. Excluded nodes belong to the store, not to a run. The command
 * only writes the table; engines read it every few seconds. Excluding a node
 * works before the first run exists, so it creates the store.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/term/output.h"
#include "store/store.h"

enum { NAME_LENGTH_MAX = 64 };

struct options {
    const char *avoid, *clear, *reason;
    struct opt_duration duration;
};

static const struct opt opts[] = {
    {"avoid", 0, OPT_TEXT, offsetof(struct options, avoid), "NAME",
     "exclude a node: start nothing on it", 0, NULL},
    {"reason", 0, OPT_TEXT, offsetof(struct options, reason), "TEXT",
     "with --avoid: the reason, for people", 0, NULL},
    {"for", 0, OPT_DURATION, offsetof(struct options, duration), "TIME",
     "with --avoid: the duration (2h, 7d); default: until "
     "--clear",
     1000, NULL},
    {"clear", 0, OPT_TEXT, offsetof(struct options, clear), "NAME",
     "re-admit a node", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"name", "node", COLUMN_TEXT, NULL},
    {"avoided", NULL, COLUMN_TEXT, NULL},
    {"until", NULL, COLUMN_TIME, NULL},
    {"by", NULL, COLUMN_TEXT, NULL},
    {"trouble", NULL, COLUMN_TEXT, NULL},
    {"count", "times", COLUMN_NUMBER, NULL},
    {"last", NULL, COLUMN_TIME, NULL},
    {"run", NULL, COLUMN_TEXT, NULL},
    {"trial", NULL, COLUMN_NUMBER, NULL},
    {"text", NULL, COLUMN_TEXT, NULL},
};

static int check_name(const char *name, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);

    if (length > 0 && length <= NAME_LENGTH_MAX &&
        strspn(name, allowed) == length)
        return 0;
    return err_set(err, ERR_USAGE,
                   "invalid name of a node: '%s' (up to %d letters, digits, "
                   "'.', '_' and '-')",
                   name, NAME_LENGTH_MAX);
}

static int check(const struct options *options, int64_t *until_ms,
                 struct err *err)
{
    *until_ms = 0;
    if (options->avoid != NULL && options->clear != NULL)
        return err_set(err, ERR_USAGE,
                       "--avoid and --clear exclude each other");
    if (options->avoid == NULL &&
        (options->reason != NULL || options->duration.is_given))
        return err_set(err, ERR_USAGE, "%s requires --avoid",
                       options->reason != NULL ? "--reason" : "--for");
    if (options->duration.is_given)
        *until_ms = clock_wall_ms() + options->duration.ms;
    if (options->avoid != NULL)
        return check_name(options->avoid, err);
    return options->clear != NULL ? check_name(options->clear, err) : 0;
}

static int change(struct store *store, const struct options *options,
                  int64_t until_ms, struct err *err)
{
    int status = store_begin(store, err);

    if (status == 0 && options->avoid != NULL)
        status = store_avoid_node(store, options->avoid, options->reason,
                                  until_ms, err);
    if (status == 0 && options->clear != NULL)
        status = store_clear_node(store, options->clear, err);
    return status == 0 ? store_commit(store, err) : -1;
}

struct listing {
    struct output *output;
    int64_t now_ms;
    struct err *err;
};

static int list_node(void *user, const struct node_row *node)
{
    const struct listing *listing = user;
    bool is_avoided = node->is_avoided &&
                      (node->until_ms == 0 || node->until_ms > listing->now_ms);
    const struct value cells[ARRAY_LEN(columns)] = {
        value_text(node->name),
        value_bool(is_avoided),
        is_avoided ? value_int(node->until_ms) : value_int(0),
        value_text(node->by),
        value_text_or_null(node->trouble),
        value_int(node->count),
        value_int(node->last_ms),
        value_text_or_null(node->run),
        value_int_unless(node->trial, 0),
        value_text_or_null(node->text),
    };

    return output_row(listing->output, cells, listing->err);
}

static int list(const struct cli *cli, struct store *store, struct err *err)
{
    struct listing listing = {
        .output = output_create(cli, columns, ARRAY_LEN(columns)),
        .now_ms = clock_wall_ms(),
        .err = err,
    };
    int status;

    output_when_empty(listing.output, "no excluded nodes");
    status = store_each_node(store, 0, list_node, &listing, err);
    if (status == 0)
        return output_finish(listing.output, err);
    output_destroy(listing.output);
    return -1;
}

static int exec_nodes(const struct cli *cli, const void *options,
                      char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    enum store_mode mode = chosen->avoid != NULL   ? STORE_CREATE
                           : chosen->clear != NULL ? STORE_WRITE
                                                   : STORE_READ;
    struct store *store;
    int64_t until_ms;
    int status;

    (void)operands, (void)count;
    if (check(chosen, &until_ms, err) != 0)
        return -1;
    store = store_open(cli->store, mode, err);
    if (store == NULL)
        return -1;
    status = mode != STORE_READ ? change(store, chosen, until_ms, err) : 0;
    if (status == 0)
        status = list(cli, store, err);
    store_close(store);
    return status;
}

const struct cmd cmd_nodes = {
    .name = "nodes",
    .summary = "list, exclude or re-admit nodes",
    .details = "All runs of the store exclude a node for an hour after it "
               "crashed, or after a job failed to start on it. After a "
               "failed health check they exclude it for a day. --avoid "
               "excludes a node until --clear, or for the time of --for. "
               "Running engines apply a change within seconds. Jobs on an "
               "excluded node continue.",
    .examples = "smtune nodes\n"
                "smtune nodes --avoid n17 --for 2h --reason 'its fan hums'\n"
                "smtune nodes --clear n17\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .exec = exec_nodes,
};
