/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/run_earlier.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/executor.h"
#include "orchestrator/job/states.h"
#include "orchestrator/spec/spec_change.h"
#include "store/engine_lock.h"

struct comparison {
    struct run_earlier *earlier;
    const char *spec;
    char *overrides;
    bool is_experiment;
};

static int compare_row(void *user, const struct run_row *row)
{
    struct comparison *comparison = user;
    struct run_earlier *earlier = comparison->earlier;

    earlier->name = mem_copy_string(row->name);
    earlier->trials = row->trials;
    earlier->has_failed = strcmp(row->state, run_state_names[RUN_FAILED]) == 0;
    earlier->is_over =
        strcmp(row->state, run_state_names[RUN_SUCCEEDED]) == 0 ||
        (earlier->has_failed && comparison->is_experiment);
    earlier->is_same =
        strcmp(run_row_spec(row), comparison->spec) == 0 &&
        strcmp(run_row_overrides(row), comparison->overrides) == 0;
    return 0;
}

/* Whether it is the run of another user of a shared store. */
static bool has_other_owner(struct store *store, const char *name)
{
    char *directory = store_run_directory(store, name);
    char *owner = engine_lock_find_owner(directory);
    bool has_other = owner != NULL;

    free(directory);
    free(owner);
    return has_other;
}

/* The last of name, name-2, name-3 ... that there is, and is ours; 0: none. */
static int find_last(struct store *store, const char *name, int count,
                     int64_t *last, struct err *err)
{
    *last = 0;
    for (int i = 1; i <= count; i++) {
        char *candidate = run_name_numbered(name, i);
        struct err missing;
        int64_t id;
        int found = store_find_run(store, candidate, &id, &missing);
        bool is_ours = found == 0 && !has_other_owner(store, candidate);

        free(candidate);
        if (found != 0 && missing.kind == ERR_NOT_FOUND)
            return 0;
        if (found != 0) {
            *err = missing;
            return -1;
        }
        if (is_ours)
            *last = id;
    }
    return 0;
}

/* Whether the run's file and words come to the same, however they are written:
 * a comment is no difference. */
static bool comes_to_the_same(struct store *store, int64_t run,
                              const struct spec *spec)
{
    struct spec_changes changes = {0};
    struct spec earlier = {NULL, NULL};
    bool is_same = run_read_spec(store, run, &earlier, NULL) == 0 &&
                   (earlier.workflow != NULL) == (spec->workflow != NULL) &&
                   spec_change_find(&earlier, spec, &changes, NULL) == 0 &&
                   changes.count == 0;

    spec_changes_clear(&changes);
    spec_clear(&earlier);
    return is_same;
}

static void find_engine(struct store *store, struct run_earlier *earlier)
{
    char *directory = store_run_directory(store, earlier->name);
    int64_t pid;

    earlier->has_engine = engine_lock_probe(directory, &pid, NULL) == 1;
    free(directory);
}

int run_find_earlier(struct store *store, const struct spec *spec,
                     const struct run_order *order, struct run_earlier *earlier,
                     struct err *err)
{
    const char *wanted =
        order->name != NULL ? order->name : spec->experiment->name;
    struct comparison comparison = {.earlier = earlier,
                                    .spec = spec->experiment->source,
                                    .is_experiment = spec->workflow == NULL};
    int result;

    *earlier = (struct run_earlier){0};
    if (run_check_name(wanted, err) != 0 ||
        find_last(store, wanted, order->name != NULL ? 1 : RUN_SAME_NAMES_MAX,
                  &earlier->id, err) != 0)
        return -1;
    if (earlier->id == 0)
        return 0;
    comparison.overrides = run_overrides(spec->experiment);
    result = store_get_run(store, earlier->id, compare_row, &comparison, err);
    free(comparison.overrides);
    if (result != 0)
        return -1;
    earlier->is_same =
        earlier->is_same || comes_to_the_same(store, earlier->id, spec);
    find_engine(store, earlier);
    return 0;
}

/* ---- beside it ---- */

struct others {
    struct store *store;
    char **name;
};

static int probe_other(void *user, const struct run_row *row)
{
    const struct others *others = user;
    char *directory = store_run_directory(others->store, row->name);
    int64_t pid;

    if (*others->name == NULL && engine_lock_probe(directory, &pid, NULL) == 1)
        *others->name = mem_copy_string(row->name);
    free(directory);
    return 0;
}

int run_find_other(struct store *store, const struct spec *spec, char **name,
                   struct err *err)
{
    struct others others = {store, name};
    char *folder = fs_absolute(".");
    int result;

    *name = NULL;
    result = store_each_running_run(store, spec->experiment->path, folder,
                                    probe_other, &others, err);
    free(folder);
    if (result == 0)
        return 0;
    free(*name);
    *name = NULL;
    return -1;
}

/* ---- below a job ---- */

struct descent {
    struct comparison comparison;
    int64_t job;
    int64_t since_ms; /* when the job last succeeded; 0: it never did */
};

static int find_success(void *user, const struct attempt_row *row)
{
    struct descent *descent = user;

    if (row->cause != NULL &&
        strcmp(row->cause, attempt_cause_names[CAUSE_OK]) == 0)
        descent->since_ms = row->ended_ms;
    return 0;
}

static int compare_child(void *user, const struct run_row *row)
{
    struct descent *descent = user;
    struct run_earlier *earlier = descent->comparison.earlier;

    if (row->parent_job != descent->job || row->created_ms < descent->since_ms)
        return 0;
    free(earlier->name);
    earlier->id = row->id;
    return compare_row(&descent->comparison, row);
}

int run_find_child(struct store *store, const struct spec *spec,
                   const struct run_order *order, struct run_earlier *earlier,
                   struct err *err)
{
    struct descent descent = {
        .comparison = {.earlier = earlier,
                       .spec = spec->experiment->source,
                       .overrides = run_overrides(spec->experiment),
                       .is_experiment = spec->workflow == NULL},
        .job = order->parent_job,
    };
    int result;

    *earlier = (struct run_earlier){0};
    result = store_each_attempt(store, order->parent, order->parent_job,
                                find_success, &descent, err);
    if (result == 0)
        result = store_each_child_run(store, order->parent, compare_child,
                                      &descent, err);
    free(descent.comparison.overrides);
    if (result != 0)
        return -1;
    if (earlier->id != 0 && !earlier->is_same &&
        !comes_to_the_same(store, earlier->id, spec))
        earlier->id = 0;
    if (earlier->id != 0)
        find_engine(store, earlier);
    return 0;
}
