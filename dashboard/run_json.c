/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as JSON, in the form of "Runs" in dashboard/schemas.json. All keys are
 * always there. Counts of states add up to "all", but for the three that are
 * parts of others.
 */
#include "dashboard/run_json.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "store/store.h"

static json_t *time_text(int64_t time_ms)
{
    char text[32];

    if (time_ms == 0)
        return json_null();
    clock_format_iso(time_ms, text, sizeof(text));
    return json_string(text);
}

/* Together all but "queued", which are some of the pending, and "infeasible"
 * and "cached", which have succeeded, are "all". */
static json_t *counts_json(const struct run_row *run, const char *state)
{
    /* By the record they run, and nothing follows them. */
    bool is_left =
        strcmp(run->state, "running") == 0 &&
        (strcmp(state, "interrupted") == 0 || strcmp(state, "unknown") == 0);
    const struct {
        const char *key;
        int64_t count;
    } counts[] = {
        {"all", run->trials},
        {"succeeded", run->succeeded},
        {"failed", run->failed},
        {"running", is_left ? 0 : run->running},
        {"interrupted", is_left ? run->running : 0},
        {"pending", run->pending},
        {"paused", run->paused},
        {"stopped", run->stopped},
        {"skipped", run->other - run->stopped - run->cancelled},
        {"cancelled", run->cancelled},
        {"queued", run->queued},
        {"infeasible", run->infeasible},
        {"nonfinite", run->nonfinite},
        {"cached", run->cached},
    };
    json_t *json = json_object();

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        json_object_set_new(json, counts[i].key,
                            json_integer((json_int_t)counts[i].count));
    return json;
}

static json_t *best_json(const struct run_row *run)
{
    if (isnan(run->best) || run->objective_count != 1)
        return json_null();
    return json_pack("{s:I, s:f}", "trial", (json_int_t)run->best_trial,
                     "value", run->best);
}

/* They are a JSON list in the record. */
static json_t *tags_json(const char *tags)
{
    json_t *json = json_parse(tags, strlen(tags), NULL);

    return json != NULL ? json : json_array();
}

/* NULL on error. */
static json_t *objectives_json(struct store *store, int64_t run,
                               struct err *err)
{
    char **goals = NULL;
    char **metrics = store_run_objectives(store, run, &goals, err);
    json_t *json = metrics == NULL ? NULL : json_array();

    for (size_t i = 0; json != NULL && metrics[i] != NULL; i++)
        json_array_append_new(json, json_pack("{s:o, s:s}", "metric",
                                              json_from_text(metrics[i]),
                                              "goal", goals[i]));
    store_free_names(metrics);
    store_free_names(goals);
    return json;
}

json_t *run_to_json(struct store *store, const struct run_row *run,
                    const char *state, struct err *err)
{
    json_t *objectives = objectives_json(store, run->id, err);
    json_t *json = objectives == NULL ? NULL : json_object();

    if (json == NULL)
        return NULL;
    json_object_set_new(json, "id", json_integer((json_int_t)run->id));
    json_object_set_new(json, "name", json_from_text(run->name));
    json_object_set_new(json, "kind", json_from_text(run->kind));
    json_object_set_new(json, "state", json_string(state));
    json_object_set_new(json, "reason", json_text_unless_empty(run->reason));
    json_object_set_new(json, "created", time_text(run->created_ms));
    json_object_set_new(json, "started", time_text(run->started_ms));
    json_object_set_new(json, "ended", time_text(run->ended_ms));
    json_object_set_new(
        json, "duration_ms",
        run->started_ms == 0 || run->ended_ms == 0
            ? json_null()
            : json_integer((json_int_t)(run->ended_ms - run->started_ms)));
    json_object_set_new(json, "objectives", objectives);
    json_object_set_new(json, "trials", counts_json(run, state));
    json_object_set_new(json, "budget_trials",
                        json_int_unless(run->budget_trials, 0));
    json_object_set_new(json, "best", best_json(run));
    json_object_set_new(json, "parent", json_int_unless(run->parent_id, 0));
    json_object_set_new(json, "tags", tags_json(run->tags));
    json_object_set_new(json, "note", json_text_unless_empty(run->comment));
    json_object_set_new(json, "message", json_text_unless_empty(run->note));
    return json;
}
