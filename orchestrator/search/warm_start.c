/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/warm_start.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/search/warm_start_impl.h"
#include "orchestrator/spec/experiment/setting_json.h"

/* ---- the list ---- */

struct warm_start *warm_start_new(const struct experiment *experiment)
{
    struct warm_start *warm = mem_zero(sizeof(*warm));

    warm->experiment = experiment;
    return warm;
}

size_t warm_start_add_source(struct warm_start *warm, const char *run)
{
    for (size_t i = 0; i < warm->source_count; i++) {
        if (strcmp(warm->sources[i].run, run) == 0)
            return i;
    }
    warm->sources = mem_grow(warm->sources, warm->source_count,
                             &warm->source_capacity, sizeof(*warm->sources));
    warm->sources[warm->source_count] =
        (struct warm_source){.run = mem_copy_string(run)};
    return warm->source_count++;
}

static double *new_nans(size_t count)
{
    double *nans = mem_array(count, sizeof(*nans));

    for (size_t i = 0; i < count; i++)
        nans[i] = (double)NAN;
    return nans;
}

struct warm_result *warm_start_add(struct warm_start *warm, size_t source)
{
    const struct experiment *experiment = warm->experiment;
    struct warm_result *result;

    warm->results = mem_grow(warm->results, warm->count, &warm->capacity,
                             sizeof(*warm->results));
    result = &warm->results[warm->count++];
    *result = (struct warm_result){
        .source = source,
        .point =
            mem_array(space_count(experiment->space), sizeof(*result->point)),
        .values = new_nans(experiment->objective_count),
        .excess = new_nans(experiment->search.outcome_count),
    };
    warm->sources[source].taken++;
    return result;
}

static void clear_result(struct warm_result *result)
{
    free(result->point);
    free(result->values);
    free(result->excess);
}

void warm_start_drop(struct warm_start *warm)
{
    struct warm_result *result = &warm->results[--warm->count];

    warm->sources[result->source].taken--;
    clear_result(result);
}

void warm_start_destroy(struct warm_start *warm)
{
    if (warm == NULL)
        return;
    for (size_t i = 0; i < warm->count; i++)
        clear_result(&warm->results[i]);
    for (size_t i = 0; i < warm->source_count; i++)
        free((void *)(uintptr_t)warm->sources[i].run);
    free(warm->results);
    free(warm->sources);
    free(warm);
}

size_t warm_start_source_count(const struct warm_start *warm)
{
    return warm->source_count;
}

const struct warm_source *warm_start_source(const struct warm_start *warm,
                                            size_t i)
{
    return &warm->sources[i];
}

void warm_start_tell(const struct warm_start *warm, struct strategy *strategy)
{
    for (size_t i = 0; i < warm->count; i++) {
        const struct warm_result *result = &warm->results[i];
        struct trial_result told = {
            .outcome = result->state == JOB_SUCCEEDED ? OUTCOME_COMPLETE
                       : result->state == JOB_STOPPED ? OUTCOME_STOPPED
                                                      : OUTCOME_FAILED,
            .values = result->values,
            .outcomes = result->excess,
        };

        strategy_add_earlier(strategy, result->point, &told,
                             !warm->experiment->earlier_guide);
    }
}

/* ---- what is tried first ---- */

static bool is_feasible(const struct warm_start *warm,
                        const struct warm_result *result)
{
    for (size_t i = 0; i < warm->experiment->search.outcome_count; i++) {
        if (!(result->excess[i] <= 0))
            return false;
    }
    return result->state == JOB_SUCCEEDED;
}

/* NULL: no trial of it succeeded. */
static const struct warm_result *find_best(const struct warm_start *warm,
                                           size_t source)
{
    const struct warm_result *best = NULL;

    for (size_t i = 0; i < warm->count; i++) {
        const struct warm_result *result = &warm->results[i];

        if (result->source == source && is_feasible(warm, result) &&
            !isnan(result->values[0]) &&
            (best == NULL || result->values[0] < best->values[0]))
            best = result;
    }
    return best;
}

void warm_start_enqueue(const struct warm_start *warm,
                        struct strategy *strategy)
{
    if (!warm->experiment->earlier_guide ||
        warm->experiment->objective_count > 1)
        return;
    for (size_t i = 0; i < warm->source_count; i++) {
        const struct warm_result *best = find_best(warm, i);

        if (best != NULL && !strategy_has_enqueued(strategy, best->point))
            strategy_enqueue(strategy, best->point, NULL);
    }
}

/* ---- the record ---- */

static char *take_json(json_t *json)
{
    struct buf text = BUF_INIT;

    json_print(json, &text);
    json_decref(json);
    return buf_take(&text);
}

static json_t *reals_to_json(const double *reals, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_from_real(reals[i]));
    return list;
}

/* A result as the record has it, and the text that its row points to. */
struct written {
    struct earlier_row row;
    char *params, *values, *outcomes;
};

static void write_result(const struct warm_start *warm, size_t i,
                         struct written *written)
{
    const struct experiment *experiment = warm->experiment;
    const struct warm_result *result = &warm->results[i];

    written->params = take_json(setting_json(experiment->space, result->point));
    written->values =
        take_json(reals_to_json(result->values, experiment->objective_count));
    written->outcomes = take_json(
        reals_to_json(result->excess, experiment->search.outcome_count));
    written->row = (struct earlier_row){
        .index = (int64_t)i,
        .source = warm->sources[result->source].run,
        .number = result->number,
        .state = job_state_names[result->state],
        .params = written->params,
        .values = written->values,
        .outcomes = written->outcomes,
    };
}

static void written_clear(struct written *written)
{
    free(written->params);
    free(written->values);
    free(written->outcomes);
}

static int record_result(const struct warm_start *warm, size_t i,
                         struct store *store, int64_t run, struct err *err)
{
    struct written written;
    int status;

    write_result(warm, i, &written);
    status = store_add_earlier(store, run, &written.row, err);
    written_clear(&written);
    return status;
}

void warm_start_digest(const struct warm_start *warm, char hex[DIGEST_HEX_SIZE])
{
    struct digest *digest = digest_create();

    for (size_t i = 0; i < warm->count; i++) {
        struct written written;

        write_result(warm, i, &written);
        digest_add_text(digest, written.row.source);
        digest_add_number(digest, written.row.number);
        digest_add_text(digest, written.row.state);
        digest_add_text(digest, written.params);
        digest_add_text(digest, written.values);
        digest_add_text(digest, written.outcomes);
        written_clear(&written);
    }
    digest_hex(digest, hex);
    digest_destroy(digest);
}

int warm_start_record(const struct warm_start *warm, struct store *store,
                      int64_t run, struct err *err)
{
    for (size_t i = 0; i < warm->count; i++) {
        if (record_result(warm, i, store, run, err) != 0)
            return -1;
    }
    return 0;
}

static void read_reals(const char *text, double *reals, size_t count)
{
    json_t *list = json_parse(text, strlen(text), NULL);

    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);

        if (json_is_number(item))
            reals[i] = json_number_value(item);
    }
    json_decref(list);
}

struct loading {
    struct warm_start *warm;
    struct err *err;
};

static int read_point(const struct loading *loading,
                      const struct earlier_row *row, struct value *point)
{
    const struct space *space = loading->warm->experiment->space;
    json_t *params = json_parse(row->params, strlen(row->params), NULL);
    int status = 0;

    for (size_t i = 0; i < space_count(space) && status == 0; i++) {
        const struct param *param = space_param(space, i);
        struct value kept = json_to_value(json_object_get(params, param->name));

        if (kept.type != VALUE_NULL &&
            param_coerce(param, &kept, &point[i]) != 0)
            status =
                err_set(loading->err, ERR_FAILED,
                        "trial %" PRId64
                        " of the earlier run '%s' has a value of '%s' that the "
                        "experiment file does not allow",
                        row->number, row->source, param->name);
    }
    json_decref(params);
    return status;
}

static int load_row(void *user, const struct earlier_row *row)
{
    struct loading *loading = user;
    struct warm_start *warm = loading->warm;
    struct warm_result *result =
        warm_start_add(warm, warm_start_add_source(warm, row->source));
    int state = job_state_find(row->state);

    result->number = row->number;
    result->state = state < 0 ? JOB_FAILED : (enum job_state)state;
    read_reals(row->values, result->values, warm->experiment->objective_count);
    read_reals(row->outcomes, result->excess,
               warm->experiment->search.outcome_count);
    return read_point(loading, row, result->point);
}

struct warm_start *warm_start_load(struct store *store, int64_t run,
                                   const struct experiment *experiment,
                                   struct err *err)
{
    struct loading loading = {warm_start_new(experiment), err};

    if (store_each_earlier(store, run, load_row, &loading, err) == 0)
        return loading.warm;
    warm_start_destroy(loading.warm);
    return NULL;
}
