/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune prune`: removes checkpoints that nothing needs any more.
 *
 * The engine's lock is held meanwhile, so that no resumed trial loses the
 * checkpoint it reads. A checkpoint stays if its trial is among the best or on
 * the Pareto front. It also stays if the trial can continue, or failed and may
 * be retried. A paused trial is finished only when its run is.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/count.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/show/run/front_view.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"
#include "orchestrator/job/states.h"
#include "orchestrator/job/workspace.h"
#include "store/engine_lock.h"

struct options {
    int64_t keep;
    bool dry_run;
};

static const struct opt opts[] = {
    {"keep", 0, OPT_INT, offsetof(struct options, keep), "N",
     "number of best trials that keep their checkpoints (1)", 1, NULL},
    {"dry-run", 0, OPT_FLAG, offsetof(struct options, dry_run), NULL,
     "remove nothing, only list the checkpoints to remove", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"run", NULL, COLUMN_TEXT, NULL},
    {"kept", NULL, COLUMN_NUMBER, NULL},
    {"removed", NULL, COLUMN_NUMBER, NULL},
    {"bytes", "freed", COLUMN_BYTES, NULL},
};

/* Of one run. */
struct pruning {
    const struct options *options;
    const char *directory;
    int64_t *best; /* [best_count], sorted: trials that keep theirs */
    size_t best_count, best_capacity;
    struct front_view *front; /* whose trials do too; NULL: of one objective */
    bool is_over;             /* what is paused will not go on */
    int64_t kept, removed, freed_bytes;
    struct err *err;
};

static int by_number(const void *a, const void *b)
{
    const int64_t *one = a, *other = b;

    return (*one > *other) - (*one < *other);
}

static int add_best(void *user, const struct trial_row *trial)
{
    struct pruning *pruning = user;

    if (trial->value_count == 0 || !isfinite(trial->values[0]) ||
        trial->violation > 0)
        return 0;
    pruning->best = mem_grow(pruning->best, pruning->best_count,
                             &pruning->best_capacity, sizeof(*pruning->best));
    pruning->best[pruning->best_count++] = trial->number;
    return 0;
}

static int find_best(struct pruning *pruning, const struct run_view *view)
{
    int64_t keep = pruning->options->keep;
    const struct trial_query query = {.run = view->row.id,
                                      .order = ORDER_BEST,
                                      .state = job_state_names[JOB_SUCCEEDED],
                                      .limit = keep > 0 ? keep : 1,
                                      .results_only = true};
    int status =
        store_each_trial(view->store, &query, add_best, pruning, pruning->err);

    qsort(pruning->best, pruning->best_count, sizeof(*pruning->best),
          by_number);
    if (status == 0 && view->objective_count > 1) {
        pruning->front = front_view_create(view, pruning->err);
        status = pruning->front != NULL ? 0 : -1;
    }
    return status;
}

static bool is_best(const struct pruning *pruning, int64_t number)
{
    return bsearch(&number, pruning->best, pruning->best_count,
                   sizeof(*pruning->best), by_number) != NULL ||
           (pruning->front != NULL && front_view_has(pruning->front, number));
}

/* A failed trial keeps its own: smtune retry goes on from there. */
static bool is_done_with(const struct pruning *pruning,
                         const struct trial_row *trial)
{
    int state = job_state_find(trial->state);

    return !is_best(pruning, trial->number) &&
           (state == JOB_SUCCEEDED || state == JOB_STOPPED ||
            (state == JOB_PAUSED && pruning->is_over));
}

static int prune_trial(void *user, const struct trial_row *trial)
{
    struct pruning *pruning = user;
    char *path =
        workspace_checkpoint_directory(pruning->directory, trial->number);
    int64_t bytes = fs_tree_bytes(path);
    int status = 0;

    if (bytes == 0) {
        /* left none */
    } else if (!is_done_with(pruning, trial)) {
        pruning->kept++;
    } else {
        pruning->removed++;
        pruning->freed_bytes = count_add(pruning->freed_bytes, bytes);
        if (!pruning->options->dry_run)
            status = fs_remove_tree(path, pruning->err);
    }
    free(path);
    return status;
}

static int prune_trials(struct pruning *pruning, const struct run_view *view)
{
    const struct trial_query all = {.run = view->row.id, .results_only = true};

    pruning->is_over = run_has_succeeded(&view->row);
    if (find_best(pruning, view) != 0)
        return -1;
    return store_each_trial(view->store, &all, prune_trial, pruning,
                            pruning->err);
}

static int print_pruned(struct output *output, const struct run_view *view,
                        const struct pruning *pruning)
{
    const struct value cells[ARRAY_LEN(columns)] = {
        value_text(view->row.name),
        value_int(pruning->kept),
        value_int(pruning->removed),
        value_int(pruning->freed_bytes),
    };

    return output_row(output, cells, pruning->err);
}

/* Holding the engine's lock, nobody resumes what is being pruned. */
static int prune_run(const struct run_view *view, const struct options *options,
                     struct output *output, struct err *err)
{
    char *directory = store_run_directory(view->store, view->row.name);
    struct pruning pruning = {.options = options,
                              .directory = directory,
                              .best = mem_array(1, sizeof(int64_t)),
                              .best_capacity = 1,
                              .err = err};
    int lock = engine_lock_take(directory, err);
    int status;

    if (lock < 0)
        status = err_prefix(err, "cannot prune run '%s'", view->row.name);
    else if ((status = prune_trials(&pruning, view)) == 0)
        status = print_pruned(output, view, &pruning);
    if (lock >= 0)
        close(lock);
    front_view_destroy(pruning.front);
    free(pruning.best);
    free(directory);
    return status;
}

struct ids {
    int64_t *items; /* [count] */
    size_t count, capacity;
};

static int add_experiment(void *user, const struct run_row *run)
{
    struct ids *ids = user;

    if (run_is_workflow(run))
        return 0;
    ids->items =
        mem_grow(ids->items, ids->count, &ids->capacity, sizeof(*ids->items));
    ids->items[ids->count++] = run->id;
    return 0;
}

static int find_experiments(struct store *store, const char *selector,
                            struct ids *ids, struct err *err)
{
    int64_t id;

    if (store_find_run(store, selector, &id, err) != 0 ||
        store_get_run_uncounted(store, id, add_experiment, ids, err) != 0)
        return -1;
    return store_each_child_run(store, id, add_experiment, ids, err);
}

static int prune_all(struct store *store, const struct ids *ids,
                     const struct options *options, struct output *output,
                     struct err *err)
{
    int status = 0;

    for (size_t i = 0; i < ids->count && status == 0; i++) {
        struct run_view view;

        status = run_view_load_uncounted(&view, store, ids->items[i], err);
        if (status == 0)
            status = prune_run(&view, options, output, err);
        run_view_clear(&view);
    }
    return status;
}

static int exec_prune(const struct cli *cli, const void *options,
                      char **operands, int count, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    struct output *output = output_create(cli, columns, ARRAY_LEN(columns));
    struct ids ids = {.items = NULL};
    int status = store == NULL ? -1 : 0;

    output_when_empty(output, "no experiments");
    for (int i = 0; i < count && status == 0; i++)
        status = find_experiments(store, operands[i], &ids, err);
    if (status == 0)
        status = prune_all(store, &ids, options, output, err);
    if (status == 0)
        status = output_finish(output, err);
    else
        output_destroy(output);
    free(ids.items);
    store_close(store);
    return status;
}

const struct cmd cmd_prune = {
    .name = "prune",
    .operands = "RUN...",
    .summary = "remove the checkpoints of all but the best trials",
    .details = "Removes only checkpoints: records, logs and models stay. "
               "It keeps the checkpoints of the N best trials and, with "
               "several objectives, of the Pareto front. It also keeps "
               "those of trials that can still continue, and of failed "
               "ones, because 'smtune retry' continues from them. A run "
               "with an engine is not pruned: stop it, prune it and "
               "resume it. For the run of a workflow it prunes the child "
               "runs of experiments.",
    .examples = "smtune prune last               # keep only the best "
                "trial's\n"
                "smtune prune mlp cnn --keep 5   # keep five of each\n"
                "smtune prune mlp --dry-run      # how much it would free\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_prune,
};
