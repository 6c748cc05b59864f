/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "orchestrator/engine_lock.h"
#include "store/store.h"

struct removal {
    int64_t id;
    char *name;
    char *directory;
    bool was_cut_short; /* the record does not say how it ended */
    int lock; /* the engine's, held until it is gone; -1: no directory */
};

static int keep_row(void *user, const struct run_row *run)
{
    struct removal *removal = user;

    removal->name = mem_copy_string(run->name);
    removal->was_cut_short = run->ended_ms == 0;
    return 0;
}

/* Holding the engine's lock, nobody resumes what is being removed. */
static int prepare(struct store *store, const char *selector,
                   struct removal *removal, struct err *err)
{
    removal->lock = -1;
    if (store_find_run(store, selector, &removal->id, err) < 0 ||
        store_get_run(store, removal->id, keep_row, removal, err) < 0)
        return -1;
    if (!text_is_name(removal->name))
        return err_set(err, ERR_FAILED, "run '%s' has an impossible name",
                       removal->name);
    removal->directory = store_run_directory(store, removal->name);
    if (!fs_exists(removal->directory))
        return 0;
    removal->lock = engine_lock_take(removal->directory, err);
    if (removal->lock < 0)
        return err_prefix(err, "cannot remove run '%s'", removal->name);
    if (removal->was_cut_short)
        return err_set(err, ERR_BUSY,
                       "the engine of run '%s' ended without a word, and its "
                       "trials may still run: 'smtune stop %s' ends them",
                       removal->name, removal->name);
    return 0;
}

/* Files first: what is left after an error can be removed again by name. */
static int remove_run(struct store *store, const struct removal *removal,
                      struct err *err)
{
    if (fs_remove_tree(removal->directory, err) < 0 ||
        store_begin(store, err) < 0)
        return -1;
    if (store_delete_run(store, removal->id, err) == 0)
        return store_commit(store, err);
    store_rollback(store);
    return -1;
}

static void clear(struct removal *removal)
{
    if (removal->lock >= 0)
        close(removal->lock);
    free(removal->name);
    free(removal->directory);
}

static int exec_rm(const struct cli *cli, const void *options, char **operands,
                   int count, struct err *err)
{
    struct removal *removals = mem_array((size_t)count, sizeof(*removals));
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    int prepared = 0, status = store == NULL ? -1 : 0;

    (void)options;
    while (status == 0 && prepared < count) {
        status = prepare(store, operands[prepared], &removals[prepared], err);
        prepared++;
    }
    for (int i = 0; i < count && status == 0; i++) {
        status = remove_run(store, &removals[i], err);
        if (status == 0 && !cli->quiet)
            fprintf(stderr, "removed run %s\n", removals[i].name);
    }
    while (prepared > 0)
        clear(&removals[--prepared]);
    free(removals);
    store_close(store);
    return status;
}

const struct cmd cmd_rm = {
    .name = "rm",
    .operands = "RUN...",
    .summary = "remove runs: their record and all their files",
    .details = "Nothing is removed if one of the runs does not exist, has an "
               "engine, or was left by it: 'smtune stop' it first.",
    .examples = "smtune rm first-try          # one run\n"
                "smtune rm mlp mlp-2 mlp-3    # or several\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_rm,
};
