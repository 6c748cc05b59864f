/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading earlier runs. Parameters and metrics are matched by name: a trial of
 * an earlier run counts with what it said of this file's metrics, whatever it
 * was to find there.
 */
#include "orchestrator/search/warm_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "orchestrator/search/warm_start_impl.h"
#include "orchestrator/spec/experiment/outcome.h"

/* The generator's stream for what an earlier run does not say; retry jitter has
 * those below. */
enum { STREAM_EARLIER = 1 << 21 };

struct reading {
    struct warm_start *warm;
    const struct experiment *experiment;
    struct store *store;
    size_t source;
    char *name; /* of the earlier run */
    char **params;
    char **metrics, **goals; /* its objectives */
    char **outcomes;         /* its constrained metrics */
    size_t outcome_count, outcome_capacity;
    size_t first;      /* its first result */
    int64_t succeeded; /* of those that count */
    struct err *err;
};

/* ---- settings ---- */

static int find_name(char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

/* The nearest value that a number has; false where it has none. */
static bool move_into_range(const struct param *param, const struct value *from,
                            struct value *to)
{
    uint64_t cardinality = param_cardinality(param);
    double number = value_number(from), step, place;

    if ((param->kind != PARAM_FLOAT && param->kind != PARAM_INT) ||
        isnan(number))
        return false;
    number = fmin(fmax(number, param->min), param->max);
    if (cardinality == 0) {
        *to = value_real(number);
        return true;
    }
    step = param->step > 0 ? param->step : 1;
    place =
        fmin(round((number - param->min) / step), (double)(cardinality - 1));
    *to = param_value_at(param, (uint64_t)place);
    return true;
}

/* Whether the value is there, exactly or (where it guides) nearly. */
static bool read_value(const struct reading *reading, size_t i,
                       const struct trial_row *row, struct value *to)
{
    const struct param *param = space_param(reading->experiment->space, i);
    int index = find_name(reading->params, param->name);

    if (index < 0 || row->params[index].type == VALUE_NULL)
        return false;
    if (param_coerce(param, &row->params[index], to) == 0)
        return true;
    return reading->experiment->earlier_guide &&
           move_into_range(param, &row->params[index], to);
}

/* Whether the earlier run had a value that is not one of this file's. */
static bool is_foreign(const struct reading *reading, size_t i,
                       const struct trial_row *row)
{
    const struct param *param = space_param(reading->experiment->space, i);
    int index = find_name(reading->params, param->name);
    struct value value;

    return index >= 0 && row->params[index].type != VALUE_NULL &&
           param_coerce(param, &row->params[index], &value) != 0;
}

/*
 * The earlier setting as one of this space. What it lacks is drawn first, and
 * the conditions say then whether it is wanted at all. False where the setting
 * may not count as one of this search.
 */
static bool read_point(const struct reading *reading,
                       const struct trial_row *row, struct value *point)
{
    struct space *space = reading->experiment->space;
    size_t count = space_count(space);
    bool *is_drawn = mem_array(count, sizeof(*is_drawn));
    bool fits = true;
    struct rng rng;

    rng_init(&rng, reading->experiment->search.seed, reading->warm->count,
             STREAM_EARLIER);
    for (size_t i = 0; i < count; i++) {
        double unit = rng_uniform(&rng);

        fits = fits && !is_foreign(reading, i, row);
        is_drawn[i] = !read_value(reading, i, row, &point[i]);
        if (is_drawn[i])
            point[i] = param_from_unit(space_param(space, i), unit);
    }
    space_apply_conditions(space, point);
    for (size_t i = 0; i < count; i++)
        fits = fits && !(is_drawn[i] && point[i].type != VALUE_NULL);
    free(is_drawn);
    return reading->experiment->earlier_guide ||
           (fits && space_feasible(space, point));
}

/* ---- results ---- */

struct search_for {
    const char *metric;
    double value;
};

static int keep_last(void *user, const struct metric_row *row)
{
    struct search_for *wanted = user;

    if (strcmp(row->name, wanted->metric) == 0)
        wanted->value = row->value;
    return 0;
}

/* What the trial came to in a metric; NaN: it never said. */
static int find_metric(const struct reading *reading,
                       const struct trial_row *row, const char *metric,
                       double *value)
{
    struct search_for wanted = {metric, (double)NAN};
    int index = find_name(reading->metrics, metric);
    int status = 0;

    if (index >= 0) {
        if ((size_t)index < row->value_count)
            wanted.value = row->values[index];
    } else if ((index = find_name(reading->outcomes, metric)) >= 0) {
        if ((size_t)index < row->outcome_count)
            wanted.value = row->outcomes[index];
    } else {
        status = store_each_metric(reading->store, row->job, keep_last, &wanted,
                                   reading->err);
    }
    *value = wanted.value;
    return status;
}

static int read_results(const struct reading *reading,
                        const struct trial_row *row, struct warm_result *result)
{
    const struct experiment *experiment = reading->experiment;
    double *outcomes = mem_array(experiment->outcome_count, sizeof(*outcomes));
    int status = 0;

    for (size_t i = 0; i < experiment->objective_count && status == 0; i++) {
        const struct objective *objective = &experiment->objectives[i];
        double value;

        status = find_metric(reading, row, objective->metric, &value);
        if (isfinite(value))
            result->values[i] = objective->maximize ? -value : value;
    }
    for (size_t i = 0; i < experiment->outcome_count && status == 0; i++)
        status = find_metric(reading, row, experiment->outcomes[i].metric,
                             &outcomes[i]);
    if (status == 0)
        outcome_excess(experiment->outcomes, experiment->outcome_count,
                       outcomes, result->excess);
    free(outcomes);
    return status;
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct reading *reading = user;
    struct warm_start *warm = reading->warm;
    int state = job_state_find(row->state);
    struct warm_result *result;

    if (state != JOB_SUCCEEDED && state != JOB_FAILED && state != JOB_STOPPED)
        return 0;
    if (warm->count == WARM_MAX_TRIALS)
        return err_set(
            reading->err, ERR_FILE,
            "out of range: the earlier runs have more than %d trials",
            WARM_MAX_TRIALS);
    result = warm_start_add(warm, reading->source);
    result->number = row->number;
    result->state = (enum job_state)state;
    if (!read_point(reading, row, result->point)) {
        warm_start_drop(warm);
        warm->sources[reading->source].left_out++;
        return 0;
    }
    reading->succeeded += state == JOB_SUCCEEDED;
    return read_results(reading, row, result);
}

/* ---- a run ---- */

/* A run has more than one selector, and its trials count once. */
static int check_is_new(const struct reading *reading, const char *selector)
{
    const struct warm_start *warm = reading->warm;

    for (size_t i = 0; i < warm->source_count; i++) {
        if (strcmp(warm->sources[i].run, reading->name) == 0)
            return err_set(reading->err, ERR_FILE,
                           "duplicate run '%s' ('%s' selects the same run)",
                           reading->name, selector);
    }
    return 0;
}

static int check_params(const struct reading *reading)
{
    const struct space *space = reading->experiment->space;

    if (reading->experiment->earlier_guide)
        return 0;
    for (size_t i = 0; i < space_count(space); i++) {
        const char *name = space_param(space, i)->name;

        if (find_name(reading->params, name) < 0)
            return err_set(
                reading->err, ERR_FILE,
                "run '%s' has no parameter '%s' (mode 'transfer' does not "
                "need it)",
                reading->name, name);
    }
    for (size_t i = 0; reading->params[i] != NULL; i++) {
        if (space_find(space, reading->params[i]) < 0)
            return err_set(
                reading->err, ERR_FILE,
                "run '%s' has a parameter '%s' that this file lacks (mode "
                "'transfer' allows it)",
                reading->name, reading->params[i]);
    }
    return 0;
}

static bool is_counted(const struct warm_result *result, size_t objective)
{
    return result->state == JOB_SUCCEEDED && !isnan(result->values[objective]);
}

/* To mean 0 and deviation 1, without overflow: all of them are multiplied by
 * the same power of two first. */
static void standardise(const struct reading *reading, size_t objective)
{
    struct warm_start *warm = reading->warm;
    double greatest = 0, mean = 0, squares = 0, deviation, count = 0;
    int exponent;

    for (size_t i = reading->first; i < warm->count; i++) {
        if (is_counted(&warm->results[i], objective))
            greatest = fmax(greatest, fabs(warm->results[i].values[objective]));
    }
    frexp(greatest, &exponent);
    for (size_t i = reading->first; i < warm->count; i++) {
        double *value = &warm->results[i].values[objective];

        *value = scalbn(*value, -exponent);
        if (is_counted(&warm->results[i], objective))
            mean += (*value - mean) / ++count;
    }
    for (size_t i = reading->first; i < warm->count; i++) {
        if (is_counted(&warm->results[i], objective))
            squares += pow(warm->results[i].values[objective] - mean, 2);
    }
    deviation = squares > 0 ? sqrt(squares / count) : 1;
    for (size_t i = reading->first; i < warm->count; i++)
        warm->results[i].values[objective] =
            (warm->results[i].values[objective] - mean) / deviation;
}

static int finish_run(const struct reading *reading)
{
    const struct experiment *experiment = reading->experiment;
    const struct warm_start *warm = reading->warm;

    for (size_t k = 0; k < experiment->objective_count; k++) {
        bool was_said = reading->succeeded == 0;

        for (size_t i = reading->first; i < warm->count; i++)
            was_said = was_said || is_counted(&warm->results[i], k);
        if (!was_said)
            return err_set(reading->err, ERR_FILE,
                           "no trial of run '%s' has a value of '%s'",
                           reading->name, experiment->objectives[k].metric);
        if (experiment->earlier_guide)
            standardise(reading, k);
    }
    return 0;
}

static int keep_name(void *user, const struct run_row *row)
{
    *(char **)user = mem_copy_string(row->name);
    return 0;
}

static int keep_outcome(void *user, const struct outcome_bounds *outcome)
{
    struct reading *reading = user;

    reading->outcomes =
        mem_resize(reading->outcomes, reading->outcome_count + 2,
                   sizeof(*reading->outcomes));
    reading->outcomes[reading->outcome_count++] =
        mem_copy_string(outcome->metric);
    reading->outcomes[reading->outcome_count] = NULL;
    return 0;
}

static int read_names(struct reading *reading, int64_t run)
{
    struct store *store = reading->store;

    reading->outcomes = mem_array(1, sizeof(*reading->outcomes));
    if (store_get_run_uncounted(store, run, keep_name, &reading->name,
                                reading->err) != 0)
        return -1;
    reading->params = store_run_params(store, run, reading->err);
    reading->metrics =
        store_run_objectives(store, run, &reading->goals, reading->err);
    if (reading->params == NULL || reading->metrics == NULL)
        return -1;
    return store_each_outcome(store, run, keep_outcome, reading, reading->err);
}

static void reading_clear(struct reading *reading)
{
    store_free_names(reading->params);
    store_free_names(reading->metrics);
    store_free_names(reading->goals);
    store_free_names(reading->outcomes);
    free(reading->name);
}

static int read_run(struct warm_start *warm, struct store *store,
                    const char *selector, struct err *err)
{
    struct reading reading = {.warm = warm,
                              .experiment = warm->experiment,
                              .store = store,
                              .first = warm->count,
                              .err = err};
    struct trial_query query = {.order = ORDER_NUMBER};
    int status = store_find_run(store, selector, &query.run, err);

    if (status == 0)
        status = read_names(&reading, query.run);
    if (status == 0)
        status = check_params(&reading);
    if (status == 0)
        status = check_is_new(&reading, selector);
    if (status == 0) {
        reading.source = warm_start_add_source(warm, reading.name);
        status = store_each_trial(store, &query, on_trial, &reading, err);
    }
    if (status == 0)
        status = finish_run(&reading);
    reading_clear(&reading);
    return status;
}

struct warm_start *warm_start_read(struct store *store,
                                   const struct experiment *experiment,
                                   struct err *err)
{
    struct warm_start *warm = warm_start_new(experiment);
    bool began;
    int status = store_read_begin(store, &began, err);

    if (status == 0) {
        for (size_t i = 0; i < experiment->earlier_run_count && status == 0;
             i++)
            status = read_run(warm, store, experiment->earlier_runs[i], err);
        store_read_end(store, began);
    }
    if (status == 0)
        return warm;
    err_prefix(err, "warm_start");
    warm_start_destroy(warm);
    return NULL;
}
