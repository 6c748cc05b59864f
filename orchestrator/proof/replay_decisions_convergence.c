/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Feeding the convergence test during a replay. Settings and results come from
 * events instead of the engine's memory, in the order in which the engine saw
 * them. The test depends on that order, so its verdict can be compared with the
 * recorded one. After an edit of the budget an engine has a new test, which it
 * gives all of them again.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/proof/replay_decisions_impl.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/search.h"

/* A trial that was suggested, or its result. */
struct fed {
    int64_t number;
    enum job_state state; /* of a result */
    bool is_result;
    json_t *detail;
};

static void ask(struct deciding *deciding, const struct fed *fed)
{
    const struct space *space = deciding->experiment->space;
    const json_t *params = json_object_get(fed->detail, "params");
    size_t count = space_count(space);
    struct value *values = mem_array(count, sizeof(*values));
    struct value *point = mem_array(count, sizeof(*point));
    struct trial_row row = {.number = fed->number, .param_count = count};

    for (size_t i = 0; i < count; i++)
        values[i] = json_to_value(json_array_get(params, i));
    row.params = values;
    if (search_point(space, &row, point, NULL) == 0)
        convergence_ask(deciding->convergence, (uint64_t)fed->number, point);
    free(values);
    free(point);
}

/* [wanted], NaN where one was not said; NULL: none was. */
static double *read_reals(const json_t *detail, const char *key, size_t wanted)
{
    const json_t *list = json_object_get(detail, key);
    double *reals;

    if (json_array_size(list) == 0)
        return NULL;
    reals = mem_array(wanted, sizeof(*reals));
    for (size_t i = 0; i < wanted; i++)
        reals[i] = json_to_real(json_array_get(list, i));
    return reals;
}

static void tell(struct deciding *deciding, const struct fed *fed)
{
    const struct experiment *experiment = deciding->experiment;
    struct feedback_item item = {
        .kind = FEEDBACK_RESULT, .number = fed->number, .state = fed->state};
    double *values =
        read_reals(fed->detail, "values", experiment->objective_count);
    double *outcomes =
        read_reals(fed->detail, "outcomes", experiment->outcome_count);

    item.values = values;
    item.outcomes = outcomes;
    feedback_tell_convergence(deciding->convergence, experiment, &item);
    free(values);
    free(outcomes);
}

static void give(struct deciding *deciding, const struct fed *fed)
{
    if (deciding->convergence == NULL)
        return;
    if (fed->is_result)
        tell(deciding, fed);
    else
        ask(deciding, fed);
}

static void keep(struct deciding *deciding, const struct fed *fed)
{
    struct fed *kept;

    if (deciding->workflow != NULL || !deciding->replay->had_convergence)
        return;
    deciding->fed = mem_grow(deciding->fed, deciding->fed_count,
                             &deciding->fed_capacity, sizeof(*deciding->fed));
    kept = &deciding->fed[deciding->fed_count++];
    *kept = *fed;
    kept->detail = json_incref(deciding->replay->detail);
    give(deciding, kept);
}

void deciding_ask(struct deciding *deciding, int64_t trial)
{
    keep(deciding, &(struct fed){.number = trial});
}

void deciding_tell(struct deciding *deciding, const struct judged *job)
{
    keep(deciding, &(struct fed){.number = job->number,
                                 .state = job->state,
                                 .is_result = true});
}

void deciding_create_convergence(struct deciding *deciding)
{
    convergence_destroy(deciding->convergence);
    deciding->convergence =
        deciding->workflow == NULL
            ? search_create_convergence(deciding->experiment)
            : NULL;
    for (size_t i = 0; i < deciding->fed_count; i++)
        give(deciding, &deciding->fed[i]);
}

void deciding_destroy_convergence(struct deciding *deciding)
{
    convergence_destroy(deciding->convergence);
    for (size_t i = 0; i < deciding->fed_count; i++)
        json_decref(deciding->fed[i].detail);
    free(deciding->fed);
}
