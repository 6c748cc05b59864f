/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Feeding the convergence test during a replay. Settings and results come from
 * events instead of the engine's memory, in the order in which the engine saw
 * them. The test depends on that order, so its verdict can be compared with the
 * recorded one.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/proof/replay_decisions_impl.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/search.h"

void deciding_ask(struct deciding *deciding, int64_t trial,
                  const json_t *detail)
{
    const struct space *space = deciding->experiment->space;
    const json_t *params = json_object_get(detail, "params");
    size_t count = space_count(space);
    struct value *values, *point;
    struct trial_row row = {.number = trial, .param_count = count};

    if (deciding->convergence == NULL)
        return;
    values = mem_array(count, sizeof(*values));
    point = mem_array(count, sizeof(*point));
    for (size_t i = 0; i < count; i++)
        values[i] = json_to_value(json_array_get(params, i));
    row.params = values;
    if (search_point(space, &row, point, NULL) == 0)
        convergence_ask(deciding->convergence, (uint64_t)trial, point);
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

void deciding_tell(struct deciding *deciding, const struct judged *job,
                   const json_t *detail)
{
    const struct experiment *experiment = deciding->experiment;
    struct feedback_item item = {
        .kind = FEEDBACK_RESULT, .number = job->number, .state = job->state};
    double *values, *outcomes;

    if (deciding->convergence == NULL)
        return;
    values = read_reals(detail, "values", experiment->objective_count);
    outcomes = read_reals(detail, "outcomes", experiment->outcome_count);
    item.values = values;
    item.outcomes = outcomes;
    feedback_tell_convergence(deciding->convergence, experiment, &item);
    free(values);
    free(outcomes);
}
