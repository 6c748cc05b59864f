/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judge of decisions: what became of each attempt's end, whether the budget
 * let a trial begin or ended those that ran, and in what the run ended. It
 * keeps a tally of its own, as an engine does, and asks the same pure
 * functions.
 */
#include "orchestrator/proof/replay_decisions_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/states.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/search.h"

enum { CLOCK_SLACK_MS = 1000 };

static const char *text_of(const json_t *detail, const char *key)
{
    const char *text = detail_string(detail, key);

    return text != NULL ? text : "";
}

/* The first of a list of reals; NaN: there is none. */
static double real_of(const json_t *detail, const char *key)
{
    return json_to_real(json_array_get(json_object_get(detail, key), 0));
}

int deciding_differ(struct deciding *deciding, int64_t trial,
                    const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    replay_differ_va(deciding->replay, PROOF_DECISIONS, trial, format,
                     arguments);
    va_end(arguments);
    return REPLAY_DIFFERS;
}

/* ---- the budget ---- */

/* The run's time at the end of an engine's life. */
static int64_t elapsed_ms(const struct deciding *deciding,
                          const struct engine_life *life)
{
    int64_t at_ms = count_add(deciding->earlier_ms, life->last_ms);

    return count_subtract(count_subtract(at_ms, life->start_ms),
                          life->jumped_ms);
}

static enum budget_verdict verdict(const struct deciding *deciding,
                                   int64_t elapsed)
{
    return budget_check(&deciding->experiment->budget,
                        deciding->experiment->objectives, &deciding->tally,
                        elapsed);
}

static void note_verdict(struct deciding *deciding)
{
    enum budget_verdict now;

    if (deciding->convergence != NULL)
        deciding->tally.has_converged =
            convergence_reached(deciding->convergence);
    now = verdict(deciding, 0);
    deciding->is_over = budget_verdict_ends_all(now);
    if (deciding->is_over)
        deciding->verdicts |= 1u << now;
}

/* ---- trials ---- */

static int by_id(const void *id, const void *job)
{
    int64_t a = *(const int64_t *)id, b = ((const struct judged *)job)->id;

    return (a > b) - (a < b);
}

/* Jobs come in the order of their ids. */
static struct judged *find_job(struct deciding *deciding, int64_t id)
{
    return deciding->job_count > 0
               ? bsearch(&id, deciding->jobs, deciding->job_count,
                         sizeof(*deciding->jobs), by_id)
               : NULL;
}

static int add_job(struct deciding *deciding, const json_t *detail)
{
    int64_t budget = deciding->budget.trials;
    int64_t number =
        detail_integer(detail, "number", (int64_t)deciding->job_count + 1);
    int64_t step = detail_integer(detail, "step", -1);
    struct judged *job;

    deciding->jobs = mem_grow(deciding->jobs, deciding->job_count,
                              &deciding->job_capacity, sizeof(struct judged));
    deciding->jobs[deciding->job_count++] = (struct judged){
        .id = deciding->replay->event->job,
        .number = number,
        .step = step,
        .task = deciding_task(deciding, step),
        .link_rule = deciding_link_rule(deciding, step),
        .rule = -1,
        .is_scheduled = detail_integer(detail, "resource", 0) > 0};
    deciding->tally.suggested++;
    deciding->is_closing = false;
    deciding_ask(deciding, number);
    job = &deciding->jobs[deciding->job_count - 1];
    if (job->task == NULL)
        return deciding_differ(deciding, number, "the job belongs to no step");
    job->resources = job->task->resources;
    if (budget > 0 && deciding->tally.suggested > budget)
        return deciding_differ(
            deciding, number, "it was suggested, but budget.trials is %" PRId64,
            budget);
    if (deciding->is_over)
        return deciding_differ(deciding, number,
                               "it was suggested after the run was over (%s)",
                               budget_verdict_text(verdict(deciding, 0)));
    deciding->proof->proved++;
    return 0;
}

/* The engine asks its chain of every end, too. */
static void follow_link(struct judged *job, const json_t *detail)
{
    const struct link_end end = {
        .exit = &job->end,
        .time_ms = job->resources.time_ms,
        .checkpoint = json_string_value(json_object_get(detail, "checkpoint")),
    };
    char text[LINKS_TEXT_MAX];

    if (job->link_rule != NULL)
        job->link_verdict = links_end(&job->links, job->link_rule, &end, text);
}

static void note_hopeless(struct deciding *deciding)
{
    deciding->is_hopeless |=
        budget_is_hopeless(&deciding->tally, deciding->launch_errors);
}

/* By the rules of now; -1: none. */
static int find_rule(const struct deciding *deciding, const json_t *detail)
{
    int64_t rule = detail_integer(detail, "rule", -1);

    return rule < deciding->retry_base ? -1
                                       : (int)(rule - deciding->retry_base);
}

static void keep_end(struct deciding *deciding, struct judged *job,
                     const json_t *detail)
{
    int cause = attempt_cause_find(text_of(detail, "cause"));

    job->end = (struct attempt_exit){
        .cause = cause < 0 ? CAUSE_LOST : (enum attempt_cause)cause,
        .exit_code = (int)detail_integer(detail, "exit_code", -1),
        .signal = (int)detail_integer(detail, "signal", 0),
        .started_ms = detail_integer(detail, "started_ms", 0),
        .ended_ms = deciding->replay->event->time_ms,
        .is_displaced = detail_integer(detail, "displaced", 0) != 0,
        .is_outside = detail_integer(detail, "outside", 0) != 0,
        .is_shortage = detail_integer(detail, "shortage", 0) != 0,
    };
    follow_link(job, detail);
    job->free_start = retry_free_start(&job->end, &job->free_starts);
    job->rule = find_rule(deciding, detail);
    job->has_end = true;
    deciding->tally.resource_used += detail_integer(detail, "resource_used", 0);
    if (job->end.cause == CAUSE_LAUNCH_ERROR && !job->end.is_displaced)
        deciding->launch_errors++;
    else if (!job->end.is_displaced)
        deciding->launch_errors = 0;
    note_hopeless(deciding);
}

/* ---- the tally ---- */

static void account(struct deciding *deciding, const struct judged *job)
{
    struct tally *tally = &deciding->tally;

    if (job->lacks_value)
        tally_note_without_value(tally, job->number);
    if (job->state != JOB_SUCCEEDED)
        tally_add_other(tally, job->state, job->number);
    else if (job->violation > 0.0)
        tally_add_infeasible(tally);
    else if (deciding->workflow != NULL)
        tally_add_copy(tally);
    else
        tally_add_result(tally, deciding->experiment->objectives, job->number,
                         job->place, job->value);
}

struct result {
    int64_t place;
    const struct judged *job;
};

static int compare_places(const void *a, const void *b)
{
    int64_t left = ((const struct result *)a)->place;
    int64_t right = ((const struct result *)b)->place;

    return (left > right) - (left < right);
}

/* After a result was taken back. */
static void account_all(struct deciding *deciding)
{
    struct result *results = mem_array(deciding->job_count, sizeof(*results));
    size_t count = 0;

    for (size_t i = 0; i < deciding->job_count; i++) {
        const struct judged *job = &deciding->jobs[i];

        if (job->is_final)
            results[count++] = (struct result){job->place, job};
    }
    qsort(results, count, sizeof(*results), compare_places);
    tally_forget(&deciding->tally);
    for (size_t i = 0; i < count; i++)
        account(deciding, results[i].job);
    deciding->is_over = false;
    free(results);
}

static double value_of(const json_t *detail)
{
    const json_t *list = json_object_get(detail, "values");
    size_t count = json_array_size(list);
    double *values = mem_array(count, sizeof(*values));
    double value;

    for (size_t i = 0; i < count; i++)
        values[i] = json_to_real(json_array_get(list, i));
    value = tally_value(values, count);
    free(values);
    return value;
}

static void end_job(struct deciding *deciding, struct judged *job,
                    const json_t *detail)
{
    int state = job_state_find(text_of(detail, "state"));
    double violation = real_of(detail, "violation");

    if (state < 0 || !job_is_final((enum job_state)state))
        return;
    job->is_final = true;
    job->state = (enum job_state)state;
    job->value = value_of(detail);
    job->lacks_value = json_object_get(detail, "values") == NULL &&
                       job->end.cause == CAUSE_NO_METRIC;
    job->violation = isnan(violation) ? 0.0 : violation;
    job->place = detail_integer(detail, "told", 0);
    account(deciding, job);
    deciding_tell(deciding, job);
    note_verdict(deciding);
}

static void reopen_job(struct deciding *deciding, struct judged *job)
{
    job->is_final = false;
    job->is_cancel_asked = false;
    job->is_scheduled = false;
    job->decision = DECIDE_CONTINUE;
    free(job->retries_used);
    job->retries_used = NULL;
    job->links = (struct links){0};
    job->free_starts = (struct free_starts){0};
    job->resources = job->task->resources;
    account_all(deciding);
    note_hopeless(deciding); /* its success may have been the only one */
}

/* It goes on, or is stopped. */
static void pause_ends(struct deciding *deciding, struct judged *job,
                       enum job_event event, const json_t *detail)
{
    job->is_paused = false;
    job->decision = DECIDE_CONTINUE;
    deciding->is_closing = event == EVENT_STOPPED;
    end_job(deciding, job, detail);
}

static int decide(struct deciding *deciding, struct judged *job,
                  enum job_event event, const json_t *detail)
{
    int result = 0;

    if (event == EVENT_STARTED || event == EVENT_DUE)
        return 0;
    if (event == EVENT_REOPENED) {
        reopen_job(deciding, job);
        return 0;
    }
    /* The schedule's part: replay.h. */
    if (job->is_paused) {
        pause_ends(deciding, job, event, detail);
        return 0;
    }
    /* By a result that was taken over, it may be. */
    if (event == EVENT_STOPPED || event == EVENT_CANCELLED)
        note_verdict(deciding);
    if (job->has_end)
        result = deciding_check_end(deciding, job, event);
    else if (event == EVENT_STOPPED || event == EVENT_CANCELLED)
        result =
            job->is_cancel_asked ||
                    deciding_may_stop(deciding, replay_life(deciding->replay))
                ? 0
                : deciding_differ(
                      deciding, job->number,
                      "recorded '%s', but the budget was not used up",
                      job_event_names[event]);
    job->has_end = false;
    job->is_paused = event == EVENT_PAUSED;
    end_job(deciding, job, detail);
    deciding->proof->proved += result == 0;
    return result;
}

static void observe(struct judged *job, const json_t *detail)
{
    for (int i = DECIDE_CONTINUE; i <= DECIDE_STOP; i++) {
        if (strcmp(decision_names[i], text_of(detail, "decision")) == 0)
            job->decision = (enum decision)i;
    }
}

/* ---- the run's end ---- */

/* Whether the text is that of one of the verdicts, bits 1 << enum. */
static bool is_among(unsigned verdicts, const char *reason)
{
    return (verdicts & 1u << budget_verdict_find(reason)) != 0;
}

/* No attempt needs more than the max. */
static bool lacks_resource(const struct deciding *deciding)
{
    const struct experiment *experiment = deciding->experiment;
    int64_t left =
        budget_resource_left(&experiment->budget, &deciding->tally, 0);

    return left < 0 || (uint64_t)left < experiment->schedule.options.max;
}

static bool is_time_used_up(const struct deciding *deciding,
                            const struct engine_life *life)
{
    int64_t time_ms = deciding->budget.time_ms;

    return time_ms > 0 &&
           elapsed_ms(deciding, life) + CLOCK_SLACK_MS >= time_ms;
}

/* Whether it is over for that reason, and has not failed by it. */
static bool reason_holds(const struct deciding *deciding,
                         const struct engine_life *life, const char *reason)
{
    const unsigned by_results =
        1u << BUDGET_TARGET | 1u << BUDGET_NO_IMPROVEMENT |
        1u << BUDGET_CONVERGENCE | 1u << BUDGET_FAILURES |
        1u << BUDGET_FIRST_FAILED | 1u << BUDGET_NO_VALUE;
    int64_t trials = deciding->budget.trials;
    int64_t suggested = deciding->tally.suggested;
    bool all_ended = tally_ended(&deciding->tally) == suggested;

    if (is_among(deciding->verdicts, reason))
        return !budget_verdict_is_failure(budget_verdict_find(reason));
    if (is_among(by_results, reason))
        return false;
    /* Whatever came while the trials were told to end. */
    if (strcmp(reason, budget_verdict_text(BUDGET_TIME)) == 0)
        return is_time_used_up(deciding, life);
    /* A run that is over stops paused trials, which ends it no other way. */
    if (budget_verdict_ends_all(verdict(deciding, 0)) && !deciding->is_closing)
        return false;
    if (budget_verdict_find(reason) == BUDGET_TRIALS)
        return all_ended && trials > 0 && suggested >= trials;
    if (strcmp(reason, budget_verdict_text(BUDGET_RESOURCE)) == 0)
        return all_ended && lacks_resource(deciding);
    return all_ended && (strcmp(reason, BUDGET_ALL_TRIED) == 0 ||
                         strcmp(reason, BUDGET_SCHEDULE_OVER) == 0);
}

/* Whether the run has failed for that reason. */
static bool failure_holds(const struct deciding *deciding,
                          const struct engine_life *life, const char *reason)
{
    const char *why = budget_vain_reason(reason);

    if (why != NULL)
        return deciding->tally.succeeded == 0 &&
               reason_holds(deciding, life, why);
    return deciding->is_hopeless ||
           (budget_verdict_is_failure(budget_verdict_find(reason)) &&
            is_among(deciding->verdicts, reason));
}

static int check_run_state(struct deciding *deciding, const json_t *detail)
{
    const char *state = text_of(detail, "state");
    const char *reason = text_of(detail, "reason");
    const struct engine_life *life = replay_life(deciding->replay);
    bool holds = true;

    if (strcmp(state, run_state_names[RUN_RUNNING]) == 0 || life == NULL ||
        deciding->workflow != NULL)
        return 0;
    if (strcmp(state, run_state_names[RUN_SUCCEEDED]) == 0)
        holds = deciding->tally.succeeded > 0 &&
                reason_holds(deciding, life, reason);
    else if (strcmp(state, run_state_names[RUN_FAILED]) == 0)
        holds = failure_holds(deciding, life, reason);
    if (!holds)
        return deciding_differ(
            deciding, 0,
            "the recorded end %s ('%.100s') does not follow from the "
            "results",
            state, reason);
    deciding->proof->proved++;
    return 0;
}

/* ---- the second pass ---- */

static int find_event(const char *word)
{
    for (int i = 0; i < JOB_EVENT_COUNT; i++) {
        if (strcmp(job_event_names[i], word) == 0)
            return i;
    }
    return -1;
}

static int check_time_used_up(struct deciding *deciding, const json_t *detail)
{
    const struct engine_life *life = replay_life(deciding->replay);
    int64_t after_ms = detail_integer(detail, "after_ms", 0);

    if (life == NULL || !is_time_used_up(deciding, life) ||
        after_ms != deciding->budget.time_ms)
        return deciding_differ(deciding, 0,
                               "the time budget was not used up at this event");
    deciding->used_ms = after_ms;
    deciding->proof->proved++;
    return 0;
}

/* An engine that takes it up counts all results by its budget. */
static int follow_edit(struct deciding *deciding, const json_t *detail)
{
    int result = deciding_edit(deciding, detail);

    if (result == 0)
        account_all(deciding);
    return result;
}

static int on_run_event(struct deciding *deciding, const json_t *detail)
{
    const struct engine_life *before = replay_life_before(deciding->replay);
    const char *word = deciding->replay->event->event;

    if (strcmp(word, "engine_started") == 0) {
        if (before != NULL)
            deciding->earlier_ms = elapsed_ms(deciding, before);
        if (deciding->earlier_ms < deciding->used_ms)
            deciding->earlier_ms = deciding->used_ms;
        deciding->launch_errors = 0;
        deciding->is_hopeless = false;
        deciding->was_paused = false;
        deciding->verdicts = 0;
        note_verdict(deciding);
    }
    if (strcmp(word, "budget_changed") == 0) {
        const struct budget_change change = budget_change_of_detail(detail);

        budget_change_add(&deciding->budget, &change);
    }
    if (deciding->replay->was_edited && strcmp(word, "run_created") == 0)
        return deciding_begin(deciding);
    if (strcmp(word, "edited") == 0)
        return follow_edit(deciding, detail);
    deciding->was_paused |= strcmp(word, "run_paused") == 0;
    if (strcmp(word, "time_used_up") == 0)
        return check_time_used_up(deciding, detail);
    return strcmp(word, "run_state") == 0 ? check_run_state(deciding, detail)
                                          : 0;
}

static int on_job_event(struct deciding *deciding, const json_t *detail)
{
    const struct event_row *event = deciding->replay->event;
    struct judged *job = find_job(deciding, event->job);
    int word = find_event(event->event);

    if (word == EVENT_SUGGESTED || word == EVENT_CREATED)
        return add_job(deciding, detail);
    if (job == NULL)
        return deciding_differ(deciding, event->job_number,
                               "no event of its creation");
    if (strcmp(event->event, "attempt_ended") == 0)
        keep_end(deciding, job, detail);
    if (strcmp(event->event, "cancel_asked") == 0)
        job->is_cancel_asked = true;
    if (strcmp(event->event, "observed") == 0)
        observe(job, detail);
    return word < 0 ? 0 : decide(deciding, job, (enum job_event)word, detail);
}

/* ---- the judge ---- */

static bool is_for(const struct spec *spec)
{
    (void)spec;
    return true;
}

static void destroy(void *self)
{
    struct deciding *deciding = self;

    if (deciding == NULL)
        return;
    for (size_t i = 0; i < deciding->job_count; i++)
        free(deciding->jobs[i].retries_used);
    deciding_destroy_convergence(deciding);
    spec_clear(&deciding->spec);
    free(deciding->jobs);
    free(deciding);
}

static void *create(struct replay *replay)
{
    const struct experiment *experiment = replay->spec->experiment;
    struct deciding *deciding = mem_zero(sizeof(*deciding));

    deciding->experiment = experiment;
    deciding->workflow = replay->spec->workflow;
    deciding->replay = replay;
    deciding->proof = &replay->proofs[PROOF_DECISIONS];
    deciding->budget = (struct budget_change){
        .trials = experiment->is_asked
                      ? experiment->budget.file_trials
                      : (int64_t)experiment->search.budget_trials,
        .time_ms = experiment->budget.file_time_ms};
    deciding_create_convergence(deciding);
    tally_init(&deciding->tally, experiment->budget.improvement);
    return deciding;
}

static int on_event(void *self)
{
    struct deciding *deciding = self;
    const json_t *detail = replay_detail(deciding->replay);

    return deciding->replay->event->job == 0 ? on_run_event(deciding, detail)
                                             : on_job_event(deciding, detail);
}

const struct judge judge_of_decisions = {
    .kind = PROOF_DECISIONS,
    .is_for = is_for,
    .create = create,
    .destroy = destroy,
    .judge = on_event,
};
