/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune rm`. The locks of all runs are taken before the first is removed, so
 * that an engine in one of them refuses the whole command. Child runs go before
 * their parent. Files go before the record: after an error the run still has a
 * name by which to remove the rest. A run whose engine crashed is refused,
 * because its trials may still write.
 *
 * In a shared store anybody of the group may remove a run. That of another user
 * goes only after a question, and only where all of its folders allow it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "store/engine_lock.h"
#include "store/store.h"

struct options {
    bool yes;
};

static const struct opt opts[] = {
    {"yes", 'y', OPT_FLAG, offsetof(struct options, yes), NULL,
     "remove runs of other users without a question", 0, NULL},
    {0},
};

struct removal {
    int64_t id;
    char *name;
    char *directory;
    char *owner; /* another user; NULL: it is ours */
    int lock;    /* the engine's, held until it is gone; -1: no directory */
};

struct removals {
    struct removal *items; /* [count] a run behind those below it */
    size_t count, capacity;
};

static int add_run(void *user, const struct run_row *run)
{
    struct removals *removals = user;

    for (size_t i = 0; i < removals->count; i++) {
        if (removals->items[i].id == run->id)
            return 0;
    }
    removals->items = mem_grow(removals->items, removals->count,
                               &removals->capacity, sizeof(*removals->items));
    removals->items[removals->count++] = (struct removal){
        .id = run->id,
        .name = mem_copy_string(run->name),
        .lock = -1,
    };
    return 0;
}

/* They are read the oldest first, and have to go the youngest first: what is
 * below a run is younger. */
static void turn_around(struct removals *removals, size_t first)
{
    for (size_t last = removals->count; last > first + 1; first++) {
        struct removal moved = removals->items[first];

        removals->items[first] = removals->items[--last];
        removals->items[last] = moved;
    }
}

static int look_at(struct store *store, struct removal *removal,
                   struct err *err)
{
    if (!text_is_name(removal->name))
        return err_set(err, ERR_FAILED, "run '%s' has an invalid name",
                       removal->name);
    removal->directory = store_run_directory(store, removal->name);
    removal->owner = engine_lock_find_owner(removal->directory);
    return 0;
}

static int find_runs(struct store *store, const char *selector,
                     struct removals *removals, struct err *err)
{
    size_t first = removals->count;
    int64_t id;

    if (store_find_run(store, selector, &id, err) < 0 ||
        store_get_run_uncounted(store, id, add_run, removals, err) < 0 ||
        store_each_child_run(store, id, add_run, removals, err) < 0)
        return -1;
    turn_around(removals, first);
    for (; first < removals->count; first++) {
        if (look_at(store, &removals->items[first], err) != 0)
            return -1;
    }
    return 0;
}

/* ---- runs of other users ---- */

/* "run 'mlp' of user 'ada', run 'cnn' of user 'eve'"; empty: all are ours. */
static void list_others(const struct removals *removals, struct buf *out)
{
    for (size_t i = 0; i < removals->count; i++) {
        const struct removal *removal = &removals->items[i];

        if (removal->owner != NULL)
            buf_printf(out, "%srun '%s' of user '%s'",
                       out->length > 0 ? ", " : "", removal->name,
                       removal->owner);
    }
}

/* No is what an empty line says, and no answer at all. */
static int ask(const struct cli *cli, const char *others, struct err *err)
{
    char line[64];

    if (!isatty(STDIN_FILENO) || !cli->err_is_terminal)
        return err_set(err, ERR_BUSY, "%s: confirm with --yes", others);
    fprintf(stderr, "smtune: remove %s? [y/N] ", others);
    fflush(stderr);
    if (fgets(line, sizeof(line), stdin) == NULL) {
        fputc('\n', stderr);
        line[0] = '\0';
    }
    return line[0] == 'y' || line[0] == 'Y'
               ? 0
               : err_set(err, ERR_FAILED, "nothing was removed");
}

static int confirm(const struct cli *cli, const struct options *options,
                   const struct removals *removals, struct err *err)
{
    struct buf others = BUF_INIT;
    int result = 0;

    list_others(removals, &others);
    if (others.length > 0 && !options->yes)
        result = ask(cli, buf_text(&others), err);
    buf_clear(&others);
    return result;
}

/* ---- removing ---- */

/* Whether the record does not say how it ended. */
static int note_end(void *user, const struct run_row *run)
{
    *(bool *)user = run->ended_ms == 0;
    return 0;
}

/* Holding the engine's lock, nobody resumes what is being removed. The record
 * is read again: a question may have had its answer late. */
static int prepare(struct store *store, struct removal *removal,
                   struct err *err)
{
    bool was_cut_short = false;

    if (!fs_exists(removal->directory))
        return 0;
    removal->lock = engine_lock_take_any(removal->directory, err);
    if (removal->lock < 0 ||
        store_get_run_uncounted(store, removal->id, note_end, &was_cut_short,
                                err) != 0 ||
        (removal->owner != NULL &&
         fs_check_removable(removal->directory, err) != 0))
        return err_prefix(err, "cannot remove run '%s'", removal->name);
    if (was_cut_short)
        return err_set(
            err, ERR_BUSY,
            "the engine of run '%s' crashed, and its trials may still "
            "run (stop them: smtune stop %s)",
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
    free(removal->owner);
}

static int remove_all(const struct cli *cli, struct store *store,
                      struct removals *removals, struct err *err)
{
    for (size_t i = 0; i < removals->count; i++) {
        if (prepare(store, &removals->items[i], err) != 0)
            return -1;
    }
    for (size_t i = 0; i < removals->count; i++) {
        if (remove_run(store, &removals->items[i], err) != 0)
            return -1;
        if (!cli->quiet)
            fprintf(stderr, "removed run %s\n", removals->items[i].name);
    }
    return 0;
}

static int exec_rm(const struct cli *cli, const void *options, char **operands,
                   int count, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_WRITE, err);
    struct removals removals = {.items = NULL};
    int status = store == NULL ? -1 : 0;

    for (int i = 0; i < count && status == 0; i++)
        status = find_runs(store, operands[i], &removals, err);
    if (status == 0)
        status = confirm(cli, options, &removals, err);
    if (status == 0)
        status = remove_all(cli, store, &removals, err);
    while (removals.count > 0)
        clear(&removals.items[--removals.count]);
    free(removals.items);
    store_close(store);
    return status;
}

const struct cmd cmd_rm = {
    .name = "rm",
    .operands = "RUN...",
    .summary = "remove runs: their record and all their files",
    .details = "Removes all runs or none: it fails if one of them does "
               "not exist, has an engine, or lost its engine. Use 'smtune "
               "stop' on that run first. With the run of a workflow its "
               "child runs are removed.\n\n"
               "In a shared store it asks before it removes the run of "
               "another user. Without a terminal it needs --yes.",
    .examples = "smtune rm first-try          # one run\n"
                "smtune rm mlp mlp-2 mlp-3    # or several\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_rm,
};
