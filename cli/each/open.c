/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run of an order, new or found. A new one has its file of lines before its
 * row, because an engine that crashes between the two must find it. The file is
 * named by its contents: one that is there already, of a call that crashed
 * before the row was made, is the same.
 */
#include "cli/each/open.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/fs.h"
#include "cli/drive/foreground.h"
#include "cli/each/find.h"
#include "cli/each/lines.h"
#include "cli/each/spec.h"
#include "orchestrator/run/edit.h"
#include "orchestrator/run/reopen.h"
#include "orchestrator/run/run.h"
#include "store/sharing.h"
#include "store/store.h"

enum { LINES_MODE = 0600 };

/* ---- a new one ---- */

static struct run *create_named(const struct each_opening *opening,
                                struct store *store, const char *name,
                                struct err *err)
{
    char *directory = store_run_directory(store, name);
    char *path = each_spec_lines_path(opening->order, directory);
    const struct buf *lines = &opening->order->lines->json;
    struct spec spec = {NULL, NULL};
    struct run *run = NULL;
    int result = 0;

    if (!fs_exists(path))
        result = store_make_run_directory(store_directory(store), name, err);
    if (result == 0 && !fs_exists(path))
        result = fs_write_below(path, buf_text(lines), lines->length,
                                LINES_MODE, err);
    if (result == 0)
        result = each_spec_parse(opening->cli, opening->order, path, NULL,
                                 &spec, err);
    if (result > 0)
        err_set(err, ERR_FILE, "each: the workflow has errors");
    if (result == 0)
        run = run_create(store, &spec, &(struct run_order){.name = name}, err);
    free(path);
    free(directory);
    return run;
}

static struct run *create(const struct each_opening *opening,
                          struct store *store, struct err *err)
{
    const char *wanted = opening->name;
    char *own = wanted == NULL ? each_spec_name(opening->order) : NULL;
    /* where there was none a moment ago, another call has begun the same */
    char *name =
        run_pick_name(store, wanted != NULL ? wanted : own,
                      wanted == NULL && opening->found->name != NULL, err);
    struct run *run = NULL;

    if (name != NULL)
        run = create_named(opening, store, name, err);
    free(name);
    free(own);
    return run;
}

/* ---- one that continues ---- */

static int make_edit(const struct run *run, const struct spec *now,
                     const struct run_edit_order *order, struct err *err)
{
    struct diags *diags = diags_create("smtune each");
    struct run_edit_again again;
    struct run_edit edit;
    int result = run_edit_read(now, order, &edit, diags, err);

    if (result != 0 && diags_count(diags) > 0)
        diags_to_err(diags, err);
    if (result == 0)
        result = run_edit_make(run, &edit, &again, err);
    run_edit_clear(&edit);
    diags_destroy(diags);
    return result;
}

/* The run takes over the limits that are asked for now. */
static int edit(const struct each_opening *opening, struct run *run,
                struct err *err)
{
    const struct spec now = {run->experiment, run->workflow};
    char *path = each_spec_lines_path(opening->order, run->directory);
    struct run_edit_order order = {.path = "", .has_all = true};
    struct spec wanted = {NULL, NULL};
    int result =
        each_spec_parse(opening->cli, opening->order, path, &now, &wanted, err);

    if (result > 0)
        err_set(err, ERR_FILE, "the workflow has errors");
    if (result == 0) {
        order.text = wanted.experiment->source;
        order.set = wanted.experiment->assignments;
        order.set_count = wanted.experiment->assignment_count;
        result = make_edit(run, &now, &order, err);
    }
    spec_clear(&wanted);
    free(path);
    return result == 0 ? run_read_again(run, err)
                       : err_prefix(err, "run '%s'", run->name);
}

static int reopen(const struct run *run, struct err *err)
{
    const struct reopen_request all = {.all_failed = true,
                                       .all_cancelled = true};
    size_t count;

    if (reopen_trials(run->store, run->id, run->workflow, &all, &count, err) ==
        0)
        return 0;
    return err_prefix(err, "run '%s'", run->name);
}

static struct run *go_on(const struct each_opening *opening,
                         struct store *store, struct err *err)
{
    struct run *run =
        foreground_open(opening->cli, store, opening->found->id, err);

    if (run == NULL)
        return NULL;
    if ((!opening->found->differs || edit(opening, run, err) == 0) &&
        (!opening->found->retries || reopen(run, err) == 0))
        return run;
    run_close(run);
    return NULL;
}

struct run *each_open(const struct each_opening *opening, struct store *store,
                      struct err *err)
{
    return opening->found->id == 0 ? create(opening, store, err)
                                   : go_on(opening, store, err);
}
