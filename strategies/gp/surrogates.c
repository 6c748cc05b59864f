/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/gp/surrogates.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/history/standings.h"

enum { EARLIER_MAX = 120 };

static struct model **make_models(const struct surrogates *surrogates,
                                  enum model_kind kind, size_t count,
                                  size_t pending_max)
{
    struct model **models = mem_array(count + 1, sizeof(struct model *));

    for (size_t i = 0; i < count; i++)
        models[i] =
            model_create(surrogates->linalg, domain_shape(surrogates->domain),
                         kind, pending_max);
    return models;
}

static bool has_all(struct model *const *models, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (models[i] == NULL)
            return false;
    return true;
}

static void destroy_models(struct model **models, size_t count)
{
    for (size_t i = 0; models != NULL && i < count; i++)
        model_destroy(models[i]);
    free(models);
}

/* The best half of those that there is room for, the others evenly. */
static bool is_taken(size_t place, size_t count)
{
    size_t half = EARLIER_MAX / 2, rest = count - half;

    if (count <= EARLIER_MAX || place < half)
        return true;
    place -= half;
    return place * half / rest != (place + 1) * half / rest;
}

static void add_earlier(struct surrogates *surrogates,
                        const struct history *history)
{
    struct standings standings = {0};

    standings_update(&standings, history);
    for (size_t i = 0; i < standings.count; i++) {
        size_t index = standings.order[i];

        if (!is_taken(i, standings.count))
            continue;
        domain_encode(surrogates->domain, history_unit(history, index),
                      surrogates->columns);
        domain_set_earlier(surrogates->domain, surrogates->columns);
        for (size_t k = 0; k < surrogates->objective_count; k++)
            if (isfinite(history_values(history, index)[k]))
                model_add(surrogates->objectives[k], surrogates->columns,
                          history_values(history, index)[k], MODEL_EARLIER);
    }
    standings_clear(&standings);
}

struct surrogates *surrogates_create(const struct history *history,
                                     struct err *err)
{
    size_t objective_count = history->objective_count;
    size_t outcome_count = history->outcome_count;
    struct surrogates *surrogates = mem_zero(sizeof(*surrogates));

    surrogates->objective_count = objective_count;
    surrogates->outcome_count = outcome_count;
    surrogates->domain =
        domain_create(history->space, history->transfer != NULL);
    trust_region_init(&surrogates->region, domain_count(surrogates->domain));
    surrogates->columns =
        mem_array(domain_shape(surrogates->domain)->column_count + 1,
                  sizeof(*surrogates->columns));
    surrogates->linalg = linalg_open(err);
    if (surrogates->linalg == NULL) {
        surrogates_destroy(surrogates);
        return NULL;
    }
    surrogates->objectives = make_models(
        surrogates, MODEL_OBJECTIVE, objective_count, SURROGATES_PENDING_MAX);
    surrogates->outcomes =
        make_models(surrogates, MODEL_OUTCOME, outcome_count, 0);
    surrogates->success = model_create(
        surrogates->linalg, domain_shape(surrogates->domain), MODEL_OUTCOME, 0);
    if (has_all(surrogates->objectives, objective_count) &&
        has_all(surrogates->outcomes, outcome_count) &&
        surrogates->success != NULL) {
        if (history->transfer != NULL)
            add_earlier(surrogates, history->transfer);
        return surrogates;
    }
    err_set(err, ERR_FAILED, "out of memory for a model of the trials");
    surrogates_destroy(surrogates);
    return NULL;
}

void surrogates_destroy(struct surrogates *surrogates)
{
    if (surrogates == NULL)
        return;
    destroy_models(surrogates->objectives, surrogates->objective_count);
    destroy_models(surrogates->outcomes, surrogates->outcome_count);
    model_destroy(surrogates->success);
    domain_destroy(surrogates->domain);
    linalg_close(surrogates->linalg);
    free(surrogates->trials);
    free(surrogates->columns);
    free(surrogates);
}

size_t surrogates_count(const struct surrogates *surrogates)
{
    return model_count(surrogates->objectives[0]);
}

size_t surrogates_tried(const struct surrogates *surrogates)
{
    return model_count(surrogates->success);
}

static void read_values(struct surrogates *surrogates,
                        const struct history *history, size_t index)
{
    const double *values = history_values(history, index);
    const double *outcomes = history_outcomes(history, index);
    size_t count = surrogates_count(surrogates);

    for (size_t i = 0; i < surrogates->objective_count; i++)
        if (!isfinite(values[i]))
            return;
    surrogates->trials =
        mem_grow(surrogates->trials, count, &surrogates->trials_capacity,
                 sizeof(*surrogates->trials));
    surrogates->trials[count] = index;
    for (size_t i = 0; i < surrogates->objective_count; i++)
        model_add(surrogates->objectives[i], surrogates->columns, values[i],
                  history->states[index] == HISTORY_STOPPED ? MODEL_BOUND
                                                            : MODEL_RESULT);
    for (size_t i = 0; i < surrogates->outcome_count; i++)
        if (isfinite(outcomes[i]))
            model_add(surrogates->outcomes[i], surrogates->columns, outcomes[i],
                      MODEL_RESULT);
    model_add(surrogates->success, surrogates->columns, -1, MODEL_RESULT);
    trust_region_tell(
        &surrogates->region,
        history_violation(history, index) <= 0 ? values[0] : (double)INFINITY);
}

void surrogates_read(struct surrogates *surrogates,
                     const struct history *history)
{
    for (; surrogates->read < history->told_count; surrogates->read++) {
        size_t index = history->told[surrogates->read];

        domain_encode(surrogates->domain, history_unit(history, index),
                      surrogates->columns);
        switch ((enum history_state)history->states[index]) {
        case HISTORY_COMPLETE:
        case HISTORY_STOPPED:
            read_values(surrogates, history, index);
            break;
        case HISTORY_FAILED:
            model_add(surrogates->success, surrogates->columns, 1,
                      MODEL_RESULT);
            trust_region_tell(&surrogates->region, (double)INFINITY);
            surrogates->failures++;
            break;
        case HISTORY_PENDING:
        case HISTORY_CANCELLED:
        case HISTORY_ASIDE:
        case HISTORY_BEHIND:
            break;
        }
    }
}
