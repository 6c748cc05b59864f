/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune nodes`. Excluded nodes belong to the store, not to a run. The command
 * only writes the table; engines read it every few seconds. Excluding a node
 * works before the first run exists, so it creates the store.
 *
 * A wrong name would exclude nothing and look as if it did. Names are compared
 * with those of the cluster, where there is one here, and those of the table.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/host_list.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/term/output.h"
#include "orchestrator/machine/cluster.h"
#include "store/store.h"

struct options {
    const char *avoid, *clear, *reason, *url;
    bool is_forced;
    struct opt_duration duration;
};

static const struct opt opts[] = {
    {"avoid", 0, OPT_TEXT, offsetof(struct options, avoid), "NODES",
     "exclude nodes, such as n[1-4,7]: start nothing on them", 0, NULL},
    {"reason", 0, OPT_TEXT, offsetof(struct options, reason), "TEXT",
     "with --avoid: the reason, for people", 0, NULL},
    {"for", 0, OPT_DURATION, offsetof(struct options, duration), "TIME",
     "with --avoid: the duration (2h, 7d); default: until "
     "--clear",
     1000, NULL},
    {"clear", 0, OPT_TEXT, offsetof(struct options, clear), "NODES",
     "re-admit nodes", 0, NULL},
    {"url", 0, OPT_TEXT, offsetof(struct options, url), "URL",
     "compare names by the slurmrestd at this address: unix:/PATH or "
     "http://HOST:PORT",
     0, NULL},
    {"force", 0, OPT_FLAG, offsetof(struct options, is_forced), NULL,
     "accept names of nodes that the cluster does not have", 0, NULL},
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

static int check(const struct options *options, struct host_list *names,
                 struct err *err)
{
    const char *text = options->avoid != NULL ? options->avoid : options->clear;

    if (options->avoid != NULL && options->clear != NULL)
        return err_set(err, ERR_USAGE,
                       "--avoid and --clear exclude each other");
    if (options->avoid == NULL &&
        (options->reason != NULL || options->duration.is_given))
        return err_set(err, ERR_USAGE, "%s requires --avoid",
                       options->reason != NULL ? "--reason" : "--for");
    return text != NULL ? host_list_add(names, text, err) : 0;
}

/* The first name that neither list has; NULL: none. */
static const char *find_unknown(const struct host_list *names,
                                const struct host_list *cluster,
                                const struct host_list *table)
{
    for (size_t i = 0; i < names->count; i++) {
        if (!host_list_has(cluster, names->names[i]) &&
            !host_list_has(table, names->names[i]))
            return names->names[i];
    }
    return NULL;
}

static int refuse(const char *name, const struct host_list *cluster,
                  const struct host_list *table, struct err *err)
{
    const struct host_list *lists[] = {cluster, table};
    const char *nearest = NULL;

    for (size_t i = 0; i < ARRAY_LEN(lists) && nearest == NULL; i++)
        nearest = text_nearest(name, (const char *const *)lists[i]->names,
                               lists[i]->count);
    if (nearest != NULL)
        return err_set(err, ERR_USAGE, "unknown node '%s' (did you mean '%s'?)",
                       name, nearest);
    if (cluster->count == 0)
        return err_set(err, ERR_USAGE, "unknown node '%s' (list: smtune nodes)",
                       name);
    return err_set(err, ERR_USAGE,
                   "unknown node '%s': the cluster has %zu nodes, '%s' to '%s' "
                   "(--force accepts it)",
                   name, cluster->count, cluster->names[0],
                   cluster->names[cluster->count - 1]);
}

static int add_row(void *user, const struct node_row *node)
{
    return host_list_add(user, node->name, NULL);
}

/* Drops the names that are not in the table: there is nothing to re-admit. */
static void keep_listed(struct host_list *names, const struct host_list *table)
{
    size_t count = 0;

    for (size_t i = 0; i < names->count; i++) {
        if (host_list_has(table, names->names[i]))
            names->names[count++] = names->names[i];
        else
            free(names->names[i]);
    }
    names->count = count;
}

/* Without a cluster here every name may be excluded, and those of the table
 * may be re-admitted. */
static int check_names(const struct cli *cli, struct store *store,
                       const struct options *options, struct host_list *names,
                       struct err *err)
{
    struct host_list cluster = {0}, table = {0};
    const char *unknown = NULL;
    struct err why;
    int status = store_each_node(store, 0, add_row, &table, err);

    host_list_sort(&table);
    if (status == 0)
        unknown = find_unknown(names, &cluster, &table);
    if (unknown != NULL && cluster_is_near(options->url) &&
        cluster_nodes(options->url, &cluster, &why) != 0 && !cli->quiet)
        fprintf(stderr, "smtune: cannot compare names with the cluster: %s\n",
                why.text);
    if (unknown != NULL)
        unknown = find_unknown(names, &cluster, &table);
    if (unknown != NULL && (cluster.count > 0 || options->clear != NULL))
        status = refuse(unknown, &cluster, &table, err);
    if (status == 0 && options->clear != NULL)
        keep_listed(names, &table);
    host_list_clear(&cluster);
    host_list_clear(&table);
    return status;
}

static int change_all(struct store *store, const struct options *options,
                      const struct host_list *names, struct err *err)
{
    int64_t until_ms =
        options->duration.is_given ? clock_wall_ms() + options->duration.ms : 0;
    int status = store_begin(store, err);

    for (size_t i = 0; i < names->count && status == 0; i++)
        status = options->avoid != NULL
                     ? store_avoid_node(store, names->names[i], options->reason,
                                        until_ms, err)
                     : store_clear_node(store, names->names[i], err);
    return status == 0 ? store_commit(store, err) : -1;
}

static int change(const struct cli *cli, struct store *store,
                  const struct options *options, struct host_list *names,
                  struct err *err)
{
    if (!options->is_forced &&
        check_names(cli, store, options, names, err) != 0)
        return -1;
    return change_all(store, options, names, err);
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
    struct host_list names = {0};
    struct store *store = NULL;
    int status = check(chosen, &names, err);

    (void)operands, (void)count;
    if (status == 0) {
        store = store_open(cli->store, mode, err);
        status = store != NULL ? 0 : -1;
    }
    if (status == 0 && mode != STORE_READ)
        status = change(cli, store, chosen, &names, err);
    if (status == 0)
        status = list(cli, store, err);
    store_close(store);
    host_list_clear(&names);
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
               "excluded node continue. NODES is a name, or a list as Slurm "
               "writes it: n[1-4,7],gpu03. The names are compared with those "
               "of the cluster, if Slurm's commands are here or --url names "
               "its slurmrestd.",
    .examples = "smtune nodes\n"
                "smtune nodes --avoid n17 --for 2h --reason 'its fan hums'\n"
                "smtune nodes --avoid 'n[1-4,7]'\n"
                "smtune nodes --clear n17\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .exec = exec_nodes,
};
