/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/job/job_name.h"
#include "orchestrator/job/outputs.h"
#include "orchestrator/spec/experiment/workdir.h"
#include "orchestrator/steps/child_run.h"
#include "orchestrator/steps/rounds.h"
#include "orchestrator/steps/scope_fill.h"

struct steps *steps_create(const struct workflow *workflow,
                           const char *run_name, struct err *err)
{
    struct steps *steps = mem_zero(sizeof(*steps));
    int64_t *sizes = mem_array(workflow->pool_count, sizeof(*sizes));

    for (size_t i = 0; i < workflow->pool_count; i++)
        sizes[i] = workflow->pools[i].size;
    steps->workflow = workflow;
    steps->run_name = run_name;
    steps->now = mem_array(workflow->step_count, sizeof(*steps->now));
    steps->results = results_create(workflow);
    steps->flow = flow_create(workflow->flow_steps, workflow->step_count, sizes,
                              workflow->pool_count, err);
    free(sizes);
    if (steps->flow != NULL) {
        steps->temps = temps_create(workflow, steps->flow);
        steps->temp_results = temp_results_create(workflow);
        return steps;
    }
    steps_destroy(steps);
    return NULL;
}

static void forget(struct step_now *now)
{
    matrix_destroy(now->matrix);
    free(now->failure);
    free(now->is_cached);
    *now = (struct step_now){0};
}

void steps_destroy(struct steps *steps)
{
    if (steps == NULL)
        return;
    for (size_t i = 0; i < steps->workflow->step_count; i++)
        forget(&steps->now[i]);
    free(steps->now);
    results_destroy(steps->results);
    temp_results_destroy(steps->temp_results);
    temps_destroy(steps->temps);
    flow_destroy(steps->flow);
    free(steps);
}

/* ---- what its expressions say ---- */

int64_t steps_copies(const struct steps *steps, size_t step)
{
    const struct matrix *matrix = steps->now[step].matrix;

    return matrix != NULL ? matrix_copies(matrix)
                          : steps->workflow->steps[step].copies;
}

/* A copy's values for an expression that is asked before any job is there. */
static struct value *copy_values(struct steps *steps, size_t step, int64_t copy)
{
    const struct step *its = &steps->workflow->steps[step];
    const struct matrix *matrix = steps->now[step].matrix;
    struct value *axes = mem_array(its->axis_count, sizeof(*axes));
    struct value *values = mem_array(its->scope.count, sizeof(*values));
    const struct job_site site = {
        .step = step,
        .copy = copy,
        .copies = steps_copies(steps, step),
        .axes = axes,
        .run_name = steps->run_name,
    };

    if (matrix != NULL && copy >= 0)
        matrix_values(matrix, copy, axes);
    scope_fill(steps->workflow, steps->results, &site, values);
    free(axes);
    return values;
}

bool steps_is_asked_for(const struct steps *steps, size_t step)
{
    const struct take_over *take_over = &steps->workflow->take_over;

    return take_over->run == 0 || take_over->only < 0 ||
           (size_t)take_over->only == step || take_over->steps[step];
}

int steps_condition(struct steps *steps, size_t step, int64_t copy,
                    bool *is_true, struct err *err)
{
    const struct step *its = &steps->workflow->steps[step];
    struct value result, *values;
    int status;

    *is_true = copy >= 0 || steps_is_asked_for(steps, step);
    if (!*is_true)
        return 0;
    if (its->condition == NULL || its->condition_is_of_copy != (copy >= 0))
        return 0;
    values = copy_values(steps, step, copy);
    status = expr_eval(its->condition, values, &result, err);
    if (status == 0)
        *is_true = value_is_true(&result);
    else
        err_prefix(err, "if");
    free(values);
    return status;
}

static json_t *list_values(const struct matrix_axis *axis)
{
    json_t *list = json_array();

    for (size_t i = 0; i < axis->value_count; i++)
        json_array_append_new(list, json_from_value(&axis->values[i]));
    return list;
}

static json_t *ask_source(struct steps *steps, size_t step,
                          const struct matrix_axis *axis, struct err *err)
{
    struct value *values = copy_values(steps, step, -1);
    struct value result;
    struct buf text = BUF_INIT;
    json_t *list = NULL;

    if (expr_eval(axis->source, values, &result, err) == 0) {
        value_print(&result, &text);
        list = matrix_axis_from_text(buf_text(&text), err);
    }
    buf_clear(&text);
    free(values);
    return list;
}

json_t *steps_axis(struct steps *steps, size_t step,
                   const struct matrix_axis *axis, struct err *err)
{
    switch (axis->kind) {
    case AXIS_VALUES:
        return list_values(axis);
    case AXIS_SOURCE:
        return ask_source(steps, step, axis, err);
    case AXIS_GLOB:
        return matrix_axis_from_glob(axis->pattern, err);
    case AXIS_LINES:
        return matrix_axis_from_lines(axis->pattern, err);
    }
    return NULL;
}

static int check_axis(const struct step *step, const struct matrix_axis *axis,
                      const json_t *list, struct err *err)
{
    if (json_array_size(list) > 0 || step->allows_empty ||
        axis->kind == AXIS_VALUES)
        return 0;
    if (axis->kind == AXIS_SOURCE)
        return err_set(err, ERR_FILE,
                       "the list is empty (allow_empty: true accepts that)");
    return err_set(err, ERR_FILE,
                   axis->kind == AXIS_GLOB
                       ? "no path matches '%s' (allow_empty: true accepts that)"
                       : "'%s' has no lines (allow_empty: true accepts that)",
                   axis->pattern);
}

int steps_axes(struct steps *steps, size_t step, json_t **axes, struct err *err)
{
    const struct step *its = &steps->workflow->steps[step];

    *axes = its->axis_count > 0 ? json_object() : NULL;
    for (size_t i = 0; i < its->axis_count; i++) {
        json_t *list = steps_axis(steps, step, &its->axes[i], err);

        if (list == NULL || check_axis(its, &its->axes[i], list, err) != 0) {
            json_decref(list);
            json_decref(*axes);
            *axes = NULL;
            return err_prefix(err, "matrix '%s'", its->axes[i].name);
        }
        json_object_set_new(*axes, its->axes[i].name, list);
    }
    return 0;
}

char *steps_message(struct steps *steps, const struct job *job)
{
    const struct step *step = &steps->workflow->steps[job->step];
    const struct launch_places nowhere = {0};
    struct value *values = steps_values(steps, job, &nowhere);
    struct buf text = BUF_INIT;
    struct err err;

    if (template_expand(step->message, values, &text, &err) != 0) {
        buf_truncate(&text, 0);
        buf_printf(&text, "fail: %s", err.text);
    }
    free(values);
    return buf_take(&text);
}

/* ---- what becomes of them ---- */

int steps_begin(struct steps *steps, size_t step, const json_t *axes,
                struct err *err)
{
    const struct step *its = &steps->workflow->steps[step];
    struct step_now *now = &steps->now[step];
    int64_t copies = its->kind == STEP_JOIN ? 0 : its->copies;

    forget(now);
    if (axes != NULL) {
        now->matrix = matrix_create(axes, err);
        if (now->matrix == NULL)
            return err_prefix(err, "matrix");
        copies = matrix_copies(now->matrix);
    }
    flow_begin(steps->flow, step, copies);
    results_begin(steps->results, step, copies);
    temp_results_forget(steps->temp_results, step);
    return 0;
}

void steps_fail(struct steps *steps, size_t step)
{
    flow_fail(steps->flow, step);
    results_set_state(steps->results, step, FLOW_FAILED, 0, 0);
}

void steps_skip(struct steps *steps, size_t step)
{
    flow_skip(steps->flow, step);
    results_set_state(steps->results, step, FLOW_SKIPPED, 0, 0);
    temps_ended(steps->temps, step);
}

static void keep_failure(struct step_now *now, const char *text)
{
    if (now->failure == NULL)
        now->failure = mem_copy_string(text);
}

/* Of a round that succeeded. -1 where it cannot be told whether another one
 * follows, or with which values. */
static int ask_for_round(struct steps *steps, const struct job *job,
                         json_t **rounds, struct err *err)
{
    const struct step *step = &steps->workflow->steps[job->step];
    const struct launch_places nowhere = {0};
    struct value *values = steps_values(steps, job, &nowhere);
    bool are_over = false;
    int result =
        rounds_are_over(&step->repeat, job->round, values, &are_over, err);

    if (result == 0 && !are_over) {
        *rounds = rounds_next(&step->repeat, values, err);
        result = *rounds != NULL ? 0 : -1;
    }
    free(values);
    return result == 0 ? 0 : err_prefix(err, "repeat");
}

static json_t *end_well(struct steps *steps, const struct job *job)
{
    size_t step = (size_t)job->step;
    json_t *rounds = NULL;
    struct err err;
    int result = 0;

    results_set(steps->results, step, job->copy, job->outputs);
    temp_results_set(steps->temp_results, step, job->copy, job->outputs);
    if (job->round > 0)
        result = ask_for_round(steps, job, &rounds, &err);
    if (result != 0)
        keep_failure(&steps->now[step], err.text);
    if (rounds == NULL)
        flow_ended(steps->flow, step, job->copy, result == 0);
    return rounds;
}

json_t *steps_end_job(struct steps *steps, const struct job *job)
{
    size_t step = (size_t)job->step;
    char *text;

    if (job->state == JOB_SUCCEEDED)
        return end_well(steps, job);
    if (job->state == JOB_SKIPPED) {
        flow_refuse(steps->flow, step, job->copy);
        return NULL;
    }
    text =
        job->attempt_number == 0
            ? mem_copy_string(job->end.text)
            : mem_printf("%s%s%s", attempt_cause_names[job->end.cause],
                         job->end.text[0] != '\0' ? ": " : "", job->end.text);
    keep_failure(&steps->now[step], text);
    if (job->state == JOB_FAILED)
        flow_ended(steps->flow, step, job->copy, false);
    else
        flow_cancelled(steps->flow, step, job->copy);
    free(text);
    return NULL;
}

void steps_end(struct steps *steps, size_t step, enum flow_state state)
{
    struct flow_counts counts;

    flow_count(steps->flow, step, &counts);
    flow_end(steps->flow, step);
    results_set_state(steps->results, step, state, counts.succeeded,
                      counts.failed - counts.cancelled);
    temps_ended(steps->temps, step);
}

void steps_set_cached(struct steps *steps, size_t step, int64_t copy,
                      bool is_cached)
{
    struct step_now *now = &steps->now[step];
    struct flow_counts counts;

    if (now->is_cached == NULL && !is_cached)
        return;
    if (now->is_cached == NULL) {
        flow_count(steps->flow, step, &counts);
        now->is_cached =
            mem_array((size_t)counts.copies, sizeof(*now->is_cached));
    }
    now->cached += is_cached - now->is_cached[copy];
    now->is_cached[copy] = is_cached;
}

void steps_give_up(struct steps *steps, size_t step, int64_t copy,
                   const char *why)
{
    keep_failure(&steps->now[step], why);
    flow_give_up(steps->flow, step, copy);
}

void steps_reopen(struct steps *steps, size_t step, int64_t copy)
{
    free(steps->now[step].failure);
    steps->now[step].failure = NULL;
    flow_reopen(steps->flow, step, copy);
    flow_started(steps->flow, step, copy);
    steps_set_cached(steps, step, copy, false);
    results_set(steps->results, step, copy, NULL);
    temp_results_set(steps->temp_results, step, copy, NULL);
    results_set_state(steps->results, step, FLOW_ACTIVE, 0, 0);
    temps_look_again(steps->temps);
}

void steps_look_again(struct steps *steps, size_t step)
{
    flow_look_again(steps->flow, step);
    results_set_state(steps->results, step, FLOW_ACTIVE, 0, 0);
    temps_look_again(steps->temps);
}

void steps_wait_again(struct steps *steps, size_t step)
{
    if (flow_state(steps->flow, step) != FLOW_WAITING)
        flow_reset(steps->flow, step);
    free(steps->now[step].is_cached);
    steps->now[step].is_cached = NULL;
    steps->now[step].cached = 0;
    temp_results_forget(steps->temp_results, step);
    results_set_state(steps->results, step, FLOW_WAITING, 0, 0);
    temps_look_again(steps->temps);
}

char *steps_failure(const struct steps *steps, size_t step)
{
    const char *said = steps->now[step].failure;
    struct flow_counts counts;

    flow_count(steps->flow, step, &counts);
    if (counts.copies > 1 && counts.failed == 0) /* too few were to run */
        return mem_printf("only %" PRId64 " of %" PRId64 " copies succeeded",
                          counts.succeeded, counts.copies);
    if (counts.copies > 1 && counts.failed == counts.cancelled)
        return mem_printf("%" PRId64 " of %" PRId64 " copies %s cancelled",
                          counts.cancelled, counts.copies,
                          counts.cancelled == 1 ? "was" : "were");
    if (counts.copies > 1 && counts.cancelled > 0)
        return mem_printf(
            "%" PRId64 " of %" PRId64 " copies failed, %" PRId64 " cancelled",
            counts.failed - counts.cancelled, counts.copies, counts.cancelled);
    if (counts.copies > 1)
        return mem_printf("%" PRId64 " of %" PRId64 " copies failed",
                          counts.failed, counts.copies);
    return mem_copy_string(said != NULL ? said : "the step failed");
}

/* ---- its jobs ---- */

struct value *steps_values(struct steps *steps, const struct job *job,
                           const struct launch_places *places)
{
    const struct step *step = &steps->workflow->steps[job->step];
    const struct matrix *matrix = steps->now[job->step].matrix;
    struct value *axes = mem_array(step->axis_count, sizeof(*axes));
    struct value *rounds = mem_array(step->repeat.value_count, sizeof(*rounds));
    struct value *values = mem_array(step->scope.count, sizeof(*values));
    const struct job_site site = {
        .step = (size_t)job->step,
        .copy = job->copy,
        .copies = steps_copies(steps, (size_t)job->step),
        .round = job->round,
        .axes = axes,
        .rounds = rounds,
        .run_name = steps->run_name,
        .directory = places->directory,
        .checkpoint_directory = places->checkpoint_directory,
    };

    if (matrix != NULL)
        matrix_values(matrix, job->copy, axes);
    rounds_values(&step->repeat, job->rounds, rounds);
    scope_fill(steps->workflow, steps->results, &site, values);
    free(axes);
    free(rounds);
    return values;
}

struct subject {
    struct steps *steps;
    const struct job *job;
};

static struct value *columns(const void *user,
                             const struct launch_places *places)
{
    const struct subject *subject = user;

    return steps_values(subject->steps, subject->job, places);
}

/* ---- as a child run ---- */

static bool is_below(const struct step *step)
{
    return step->kind == STEP_EXPERIMENT || step->kind == STEP_WORKFLOW;
}

static struct child_run child_run_of(const struct steps *steps,
                                     const struct job *job)
{
    const struct step *step = &steps->workflow->steps[job->step];

    return (struct child_run){
        .step = step,
        .store = store_directory(steps->run->store),
        .run_name = steps->run_name,
        .run = steps->run->id,
        .job = job->id,
        .copy = step->axis_count > 0 || step->copies > 1 ? job->copy : -1,
        .round = job->round,
        .is_touched = step->kind == STEP_WORKFLOW &&
                      steps->workflow->is_touched && !steps->touch_is_over,
    };
}

static char **words(const void *user, const struct launch_places *places,
                    struct err *err)
{
    const struct subject *subject = user;
    const struct child_run child = child_run_of(subject->steps, subject->job);
    struct value *values = steps_values(subject->steps, subject->job, places);
    char **result = child_run_words(&child, values, err);

    free(values);
    return result;
}

/* What a job is told by name: parameters, its place in the matrix, its round's
 * values. */
static json_t *params_of(struct steps *steps, const struct job *job)
{
    const struct workflow *workflow = steps->workflow;
    const struct step *step = &workflow->steps[job->step];
    const struct matrix *matrix = steps->now[job->step].matrix;
    struct value *axes = mem_array(step->axis_count, sizeof(*axes));
    json_t *params = json_object();

    for (size_t i = 0; i < workflow->param_count; i++)
        json_object_set_new(params, workflow->param_names[i],
                            json_from_value(&workflow->params[i]));
    if (matrix != NULL)
        matrix_values(matrix, job->copy, axes);
    for (size_t i = 0; i < step->axis_count; i++)
        json_object_set_new(params, step->axes[i].name,
                            json_from_value(&axes[i]));
    if (job->rounds != NULL)
        json_object_update(params, job->rounds);
    free(axes);
    return params;
}

static json_t *strings_of(json_t *params)
{
    json_t *strings = json_object();
    struct buf text = BUF_INIT;
    const char *name;
    json_t *json;

    json_object_foreach(params, name, json)
    {
        struct value value = json_to_value(json);

        buf_truncate(&text, 0);
        value_print(&value, &text);
        json_object_set_new(strings, name, json_from_text(buf_text(&text)));
    }
    buf_clear(&text);
    return strings;
}

struct launch *steps_launch(struct steps *steps, const struct launch_site *site,
                            const struct job *job, struct err *err)
{
    const struct step *step = &steps->workflow->steps[job->step];
    const struct subject subject = {steps, job};
    json_t *params = params_of(steps, job);
    json_t *strings = strings_of(params);
    int64_t copies = steps_copies(steps, (size_t)job->step);
    struct buf name = BUF_INIT;
    struct launch_order order = {
        .job = job->number,
        .attempt = job->attempt,
        .attempt_number = job->attempt_number,
        .reserve = job->reserve,
        .step = step->name,
        .inherits = job->round > 1,
        .allows_empty = step->allows_empty,
        .copy = {.index = job->copy,
                 .count = copies,
                 .are_hosts = step->copies > 1},
        .task = job->spec,
        .resources = &job->resources,
        .avoid = job->avoid,
        .warn_signal = step->link.signal,
        .warn_before_ms = step->link.before_ms,
        .link_exits = step->link.exits,
        .params = params,
        .strings = strings,
        .columns = columns,
        .words = is_below(step) ? words : NULL,
        .user = &subject,
    };
    struct launch *launch;

    job_name_print(step->name, copies > 1 ? job->copy : -1, job->round, &name);
    order.name = buf_text(&name);
    launch = launch_create(site, &order, err);
    buf_clear(&name);
    json_decref(params);
    json_decref(strings);
    return launch;
}

void steps_judge(const struct steps *steps, struct job *job)
{
    if (is_below(&steps->workflow->steps[job->step]))
        child_run_judge(&job->end);
}

static void take_metrics(const struct step *step, struct job *job)
{
    for (size_t i = 0; i < step->metric_count; i++) {
        for (size_t j = 0; j < job->curve_count; j++) {
            if (strcmp(job->curves[j].name, step->metrics[i]) == 0)
                json_object_set_new(job->outputs, step->metrics[i],
                                    json_from_metric(job->curves[j].last));
        }
    }
}

int steps_read_outputs(struct steps *steps, struct job *job,
                       const struct steps_site *where, struct err *err)
{
    const struct step *step = &steps->workflow->steps[job->step];
    struct outputs_site site = {
        .work_directory = where->work_directory,
        .attempt_directory = where->places.attempt_directory,
        .may_lack_temps = where->may_lack_temps,
    };
    const struct child_run child = child_run_of(steps, job);
    char *own = NULL;
    struct value *values;
    int result;

    if (step->output_count == 0 && step->metric_count == 0 && !is_below(step))
        return 0;
    values = steps_values(steps, job, &where->places);
    site.columns = values;
    json_decref(job->outputs);
    job->outputs = json_object();
    take_metrics(step, job);
    result = workdir_expand(&step->task, values, &own, err);
    if (own != NULL)
        site.work_directory = own;
    if (result == 0)
        result = outputs_read(step, &site, job->outputs, err);
    if (result == 0 && is_below(step))
        result =
            child_run_outputs(&child, steps->run->store, job->outputs, err);
    free(own);
    free(values);
    return result;
}
