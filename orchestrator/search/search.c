/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building the search of an experiment.
 *
 * The order is fixed: earlier results, then settings that the file enqueues,
 * then settings of earlier runs. The engine, `smtune plan`, `smtune suggest`
 * and a replay all build the search here, which is why they suggest the same
 * trials.
 */
#include "orchestrator/search/search.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/search/warm_start.h"

struct strategy *search_create(const struct experiment *experiment,
                               const struct warm_start *warm, struct err *err)
{
    struct strategy *strategy =
        strategy_create(&experiment->search, experiment->space, err);

    if (strategy == NULL)
        return NULL;
    if (warm != NULL)
        warm_start_tell(warm, strategy);
    if (experiment_enqueue(experiment, strategy, err) != 0) {
        strategy_destroy(strategy);
        return NULL;
    }
    if (warm != NULL)
        warm_start_enqueue(warm, strategy);
    return strategy;
}

struct strategy *search_create_of_run(const struct experiment *experiment,
                                      struct store *store, int64_t run,
                                      struct err *err)
{
    struct warm_start *warm = warm_start_load(store, run, experiment, err);
    struct strategy *strategy =
        warm != NULL ? search_create(experiment, warm, err) : NULL;

    warm_start_destroy(warm);
    return strategy;
}

int search_choose(const struct experiment *experiment, struct store *store,
                  int64_t run, struct search_choice *choice, struct err *err)
{
    struct strategy *strategy =
        search_create_of_run(experiment, store, run, err);

    *choice = (struct search_choice){NULL, NULL};
    if (strategy == NULL)
        return -1;
    choice->method = mem_copy_string(strategy_method(strategy));
    choice->reason = mem_copy_string(strategy_reason(strategy));
    strategy_destroy(strategy);
    return 0;
}

void search_choice_clear(struct search_choice *choice)
{
    free(choice->method);
    free(choice->reason);
}

struct convergence *search_create_convergence(
    const struct experiment *experiment)
{
    const struct convergence_options options = {
        .seed = experiment->search.seed,
        .improvement = experiment->budget.improvement,
        .outcome_count = experiment->search.outcome_count,
    };

    return experiment->budget.convergence
               ? convergence_create(&options, experiment->space)
               : NULL;
}

int search_point(const struct space *space, const struct trial_row *row,
                 struct value *point, struct err *err)
{
    for (size_t i = 0; i < space_count(space); i++) {
        point[i] = value_null();
        if (i < row->param_count && row->params[i].type != VALUE_NULL &&
            param_coerce(space_param(space, i), &row->params[i], &point[i]) !=
                0)
            return err_set(
                err, ERR_FAILED,
                "trial %" PRId64
                " has a value of '%s' that the experiment file does not "
                "allow",
                row->number, space_param(space, i)->name);
    }
    return 0;
}
