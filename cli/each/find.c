/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same command on the same lines in the same folder is the same run: it
 * continues where it was. The name of a run has a digest of the three, so it is
 * found by its name, and then compared with what is asked for now. Only what a
 * run takes over while it runs may differ, as in `smtune edit`. Runs of other
 * values of --set have the same name, numbered.
 */
#include "cli/each/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/each/spec.h"
#include "cli/term/output.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec_change.h"
#include "orchestrator/spec/spec_mask.h"
#include "store/engine_lock.h"
#include "store/store.h"

struct standing {
    bool has_succeeded, has_failed;
    int64_t unsuccessful; /* jobs that failed or were cancelled */
};

static int keep_standing(void *user, const struct run_row *row)
{
    struct standing *standing = user;

    *standing = (struct standing){
        .has_succeeded =
            strcmp(row->state, run_state_names[RUN_SUCCEEDED]) == 0,
        .has_failed = strcmp(row->state, run_state_names[RUN_FAILED]) == 0,
        .unsuccessful = row->failed + row->cancelled,
    };
    return 0;
}

/* The run NAME, or NAME-2 ...: 1; 0: there is none; -1. */
static int find_numbered(struct store *store, const char *name, int number,
                         struct each_found *found, struct err *err)
{
    char *candidate = run_name_numbered(name, number);
    struct err missing;
    int64_t id;

    if (store_find_run(store, candidate, &id, &missing) == 0) {
        free(found->name);
        found->name = candidate;
        found->id = id;
        return 1;
    }
    free(candidate);
    if (missing.kind == ERR_NOT_FOUND)
        return 0;
    *err = missing;
    return -1;
}

/* The last of them that there is: its number; 0: there is none; -1. */
static int find_last(struct store *store, const char *name, bool is_one,
                     struct each_found *found, struct err *err)
{
    const int count = is_one ? 1 : RUN_SAME_NAMES_MAX;
    int last = 0, there = 1;

    while (last < count && there > 0) {
        there = find_numbered(store, name, last + 1, found, err);
        last += there > 0;
    }
    return there >= 0 ? last : -1;
}

/* ---- compared ---- */

static bool are_taken_over(const struct spec_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].refused != NULL ||
            changes->items[i].effect != EFFECT_NEXT)
            return false;
    return true;
}

/* 1: the same; 0: of other lines, another command, folder or user; -1. */
static int compare(const struct cli *cli, const struct each_order *order,
                   struct store *store, struct each_found *found,
                   struct err *err)
{
    char *directory = store_run_directory(store, found->name);
    char *lines = each_spec_lines_path(order, directory);
    struct spec before = {NULL, NULL}, after = {NULL, NULL};
    struct spec_changes changes = {0};
    char *owner = engine_lock_find_owner(directory);
    int result = run_read_spec(store, found->id, &before, err);
    bool has_lines =
        result == 0 && owner == NULL && each_spec_has_lines(&before, lines);

    if (has_lines)
        result = each_spec_parse(cli, order, lines, &before, &after, err);
    if (has_lines && result == 0)
        result = spec_change_find(&before, &after, &changes, err);
    found->differs =
        changes.count > 0 || (before.experiment != NULL &&
                              spec_is_masked(before.experiment->source));
    if (result == 0)
        result = has_lines && are_taken_over(&changes);
    else if (result > 0)
        result = 0;
    spec_changes_clear(&changes);
    spec_clear(&after);
    spec_clear(&before);
    free(owner);
    free(lines);
    free(directory);
    return result;
}

/* The newest one that is the same: 1; 0: none is; -1. Others of these names
 * have other values of --set. `last` is found already. */
static int find_same(const struct cli *cli, const struct each_order *order,
                     struct store *store, const char *name, int last,
                     struct each_found *found, struct err *err)
{
    int same = compare(cli, order, store, found, err);

    for (int i = last - 1; i >= 1 && same == 0; i--) {
        same = find_numbered(store, name, i, found, err);
        if (same > 0)
            same = compare(cli, order, store, found, err);
    }
    return same;
}

/* ---- decided ---- */

static enum each_next refuse_engine(const struct each_found *found,
                                    struct err *err)
{
    return (enum each_next)err_set(
        err, ERR_BUSY,
        "run '%s' of these lines is running (show it: smtune attach %s)",
        found->name, found->name);
}

static enum each_next refuse_name(const struct each_found *found,
                                  struct err *err)
{
    return (enum each_next)err_set(
        err, ERR_BUSY,
        "duplicate name '%s': a run has it (choose another --name)",
        found->name);
}

static enum each_next refuse_other(const struct each_found *found,
                                   struct err *err)
{
    return (enum each_next)err_set(
        err, ERR_BUSY,
        "duplicate name '%s': that run has other lines, another command, "
        "folder or user (choose another --name)",
        found->name);
}

static enum each_next decide(struct store *store,
                             const struct each_request *request,
                             struct each_found *found, struct err *err)
{
    char *directory = store_run_directory(store, found->name);
    struct standing standing;
    int64_t pid;
    bool has_engine = engine_lock_probe(directory, &pid, NULL) == 1;

    free(directory);
    if (store_get_run(store, found->id, keep_standing, &standing, err) != 0)
        return EACH_ERROR;
    if (has_engine)
        return refuse_engine(found, err);
    found->retries = !request->leaves_failed &&
                     (standing.has_failed || standing.unsuccessful > 0);
    return standing.has_succeeded && !found->retries ? EACH_NOTHING
                                                     : EACH_CONTINUE;
}

static enum each_next ask(const struct cli *cli, const struct each_order *order,
                          const struct each_request *request,
                          struct store *store, struct each_found *found,
                          struct err *err)
{
    char *name = request->name != NULL ? mem_copy_string(request->name)
                                       : each_spec_name(order);
    int last = find_last(store, name, request->name != NULL, found, err);
    int same = 0;

    if (last > 0 && !request->is_new)
        same = find_same(cli, order, store, name, last, found, err);
    free(name);
    if (last < 0 || same < 0)
        return EACH_ERROR;
    if (last == 0)
        return EACH_NEW;
    if (request->is_new)
        return request->name != NULL ? refuse_name(found, err) : EACH_NEW;
    if (same == 0)
        return request->name != NULL ? refuse_other(found, err) : EACH_NEW;
    return decide(store, request, found, err);
}

enum each_next each_find(const struct cli *cli, const struct each_order *order,
                         const struct each_request *request,
                         struct each_found *found, struct err *err)
{
    struct err problem;
    struct store *store = store_open(cli->store, STORE_READ, &problem);
    enum each_next next = EACH_ERROR;

    *found = (struct each_found){.id = 0};
    if (store == NULL && problem.kind == ERR_NOT_FOUND)
        return EACH_NEW;
    if (store == NULL)
        *err = problem;
    else
        next = ask(cli, order, request, store, found, err);
    store_close(store);
    return next;
}
