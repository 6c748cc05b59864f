/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/outcome.h"
#include "store/store.h"

/* The constraints on outcomes, and whether a trial says what is asked of it. */

/* Whether the metric may be bounded; says why not. */
static bool is_free(struct build *build, const struct conf_node *metric)
{
    const struct experiment *experiment = build->experiment;

    if (!build_check_metric_name(build, metric))
        return false;
    for (size_t i = 0; i < experiment->outcome_count; i++) {
        if (strcmp(experiment->outcomes[i].metric, metric->text) == 0) {
            diags_add(build->diags, metric->place,
                      "one entry may have both min and max",
                      "duplicate constraint on metric '%s'", metric->text);
            return false;
        }
    }
    /* Of several objectives, a bound on one picks a part of the front. */
    if (experiment->objective_count == 1 &&
        strcmp(experiment->objectives[0].metric, metric->text) == 0) {
        diags_add(build->diags, metric->place,
                  "'budget.target' stops the run at a value",
                  "metric '%s' is the objective: a constraint on it would "
                  "not change the best trial",
                  metric->text);
        return false;
    }
    return true;
}

static void add_outcome(struct build *build, const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;
    const struct conf_node *metric =
        node->type == CONF_MAP ? conf_get(node, "metric") : node;
    bool is_bare = conf_get(node, "min") == NULL && //
                   conf_get(node, "max") == NULL;
    struct outcome_bounds outcome = {
        .min = conf_read_number(node, "min", -(double)INFINITY),
        .max = conf_read_number(node, "max", is_bare ? 0.0 : (double)INFINITY),
    };

    if (metric == NULL || metric->type != CONF_TEXT || !is_free(build, metric))
        return;
    if (outcome.min > outcome.max)
        diags_add(build->diags, conf_get(node, "max")->place, NULL,
                  "out of range: metric '%s': min %g is above max %g",
                  metric->text, outcome.min, outcome.max);
    outcome.metric = metric->text;
    experiment->outcomes[experiment->outcome_count++] = outcome;
}

void experiment_build_outcomes(struct build *build,
                               const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;
    bool is_list = node != NULL && node->type == CONF_LIST;
    size_t count = is_list ? node->count : 1;

    if (node == NULL)
        return;
    experiment->outcomes = mem_array(count, sizeof(*experiment->outcomes));
    if (!is_list)
        add_outcome(build, node);
    for (size_t i = 0; is_list && i < count; i++)
        add_outcome(build, node->items[i]);
    experiment->search.outcome_count =
        outcome_bound_count(experiment->outcomes, experiment->outcome_count);
}

/* ---- what a trial says ---- */

struct metric_names {
    const char **items;
    size_t count;
};

static void check_found(struct build *build, const struct metric_names *names,
                        const struct conf_node *node)
{
    const struct conf_node *metric =
        node->type == CONF_MAP ? conf_get(node, "metric") : node;

    if (text_is_among(metric->text, names->items, names->count))
        return;
    diags_add_unknown(
        build->diags, metric->place, metric->text, names->items, names->count,
        "unknown metric '%s': it is not in 'trial.metrics'", metric->text);
}

static void check_all_found(struct build *build,
                            const struct metric_names *names,
                            const struct conf_node *node)
{
    if (node == NULL)
        return;
    if (node->type != CONF_LIST)
        check_found(build, names, node);
    for (size_t i = 0; node->type == CONF_LIST && i < node->count; i++)
        check_found(build, names, node->items[i]);
}

void experiment_check_metrics(struct build *build, const struct conf_node *root)
{
    const struct conf_node *metrics =
        conf_get(conf_get(root, "trial"), "metrics");
    struct metric_names names = {NULL, 0};

    if (diags_count(build->diags) > 0)
        return;
    experiment_ask_metrics(build->experiment, build->experiment->task.metrics);
    if (metrics == NULL)
        return;
    names.items = mem_array(metrics->count, sizeof(*names.items));
    for (; names.count < metrics->count; names.count++)
        names.items[names.count] = metrics->type == CONF_MAP
                                       ? metrics->keys[names.count]->text
                                       : metrics->items[names.count]->text;
    check_all_found(build, &names, conf_get(root, "objective"));
    check_all_found(build, &names, conf_get(root, "outcomes"));
    free(names.items);
}

void experiment_ask_metrics(const struct experiment *experiment,
                            struct metric_rules *rules)
{
    for (size_t i = 0; i < experiment->objective_count; i++)
        metric_rules_ask(rules, experiment->objectives[i].metric);
    for (size_t i = 0; i < experiment->outcome_count; i++)
        metric_rules_ask(rules, experiment->outcomes[i].metric);
    if (experiment->schedule.is_on)
        metric_rules_set_resource(rules, experiment->schedule.resource);
}
