/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/reopening.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/run/reopen.h"
#include "orchestrator/spec/spec.h"
#include "tests/fault/sim/history.h"

static bool is_state(const struct record_job *job, const char *state)
{
    return strcmp(job->state, state) == 0;
}

static bool is_over(const struct record_job *job)
{
    return is_state(job, "succeeded") || is_state(job, "failed") ||
           is_state(job, "stopped");
}

/* ---- what is asked for ---- */

static void add_number(struct reopening_request *request,
                       const struct record_job *job)
{
    request->numbers[request->count++] = job->number;
    request->is_wrong |= is_state(job, "succeeded") && !request->even_succeeded;
}

/* Mostly trials that are over, some of them twice. */
static void draw_numbers(struct rng *rng, struct reopening_request *request)
{
    const struct record *record = &request->before;
    int64_t wanted =
        rng_percent(rng, 50) ? 1 : rng_between(rng, 1, REOPENING_NUMBERS);
    int tries = 4 * REOPENING_NUMBERS;

    while ((int64_t)request->count < wanted && tries-- > 0) {
        const struct record_job *job =
            &record->jobs[rng_below(rng, record->job_count)];

        if (is_over(job))
            add_number(request, job);
    }
    if (request->count < REOPENING_NUMBERS && rng_percent(rng, 3)) {
        request->numbers[request->count++] = (int64_t)record->job_count + 1000;
        request->is_wrong = true;
    }
}

bool reopenings_draw(struct history *history)
{
    struct reopenings *reopenings = &history->reopenings;
    struct reopening_request *request = &reopenings->asked;
    struct rng *rng = &history->world->rng;

    if (history->run == 0 || reopenings->request_count == REOPENING_REQUESTS)
        return false;
    record_clear(&request->before);
    *request = (struct reopening_request){
        .all_failed = rng_percent(rng, 30),
        .even_succeeded = rng_percent(rng, 85),
        .ends = history->end_count,
    };
    record_read(&request->before, false);
    if (request->before.job_count > 0 &&
        (!request->all_failed || rng_percent(rng, 50)))
        draw_numbers(rng, request);
    return request->count > 0 || request->all_failed;
}

/* ---- what comes of it ---- */

/* So has a job of a step that the end of the workflow's time stopped. */
static bool is_failure(const struct history *history, const char *state)
{
    return strcmp(state, "failed") == 0 ||
           (history->scenario.step_count > 0 && strcmp(state, "stopped") == 0);
}

/* Whether it failed when it was asked for, or since then. */
static bool has_failed(const struct history *history, int64_t trial)
{
    const struct reopening_request *request = &history->reopenings.asked;
    const struct record_job *job = record_job(&request->before, trial);

    if (job != NULL && is_failure(history, job->state))
        return true;
    for (size_t i = history->end_count; i-- > request->ends;) {
        if (history->ends[i].trial == trial)
            return is_failure(history, history->ends[i].state);
    }
    return false;
}

static bool is_named(const struct reopening_request *request, int64_t trial)
{
    for (size_t i = 0; i < request->count; i++) {
        if (request->numbers[i] == trial)
            return true;
    }
    return false;
}

static bool is_meant(const struct history *history, int64_t trial)
{
    const struct reopening_request *request = &history->reopenings.asked;

    return is_named(request, trial) ||
           (request->all_failed && has_failed(history, trial));
}

/* Whether a step needs another, near or far. */
static bool needs(const struct scenario *scenario, int64_t step, int64_t other)
{
    uint32_t all = scenario->steps[step].needs;

    for (int64_t i = step; i-- > 0;) {
        if ((all >> i & 1) != 0)
            all |= scenario->steps[i].needs;
    }
    return (all >> other & 1) != 0;
}

/* Of a workflow, what has to begin anew because of another job is not put back;
 * nor are failures of an earlier time. */
static bool may_be_left_out(const struct history *history,
                            const struct record *record,
                            const struct record_job *job)
{
    const struct reopening_request *request = &history->reopenings.asked;
    int64_t first;

    if (history->scenario.step_count == 0)
        return false;
    first = request->before.steps[job->step].first_job;
    if (!is_named(request, job->number) && (first == 0 || job->number < first))
        return true;
    for (size_t i = history->reopenings.count; i < record->reopened_count;
         i++) {
        const struct record_job *other =
            record_job(record, record->reopened[i].trial);

        if (needs(&history->scenario, job->step, other->step))
            return true;
    }
    return false;
}

static bool is_reopened(const struct history *history,
                        const struct record *record, int64_t trial)
{
    for (size_t i = history->reopenings.count; i < record->reopened_count;
         i++) {
        if (record->reopened[i].trial == trial)
            return true;
    }
    return false;
}

/* All of what was asked for was done, and nothing else. */
static void check_done(const struct history *history,
                       const struct record *record)
{
    const struct reopenings *reopenings = &history->reopenings;
    const struct record *before = &reopenings->asked.before;

    if (reopenings->asked.is_wrong)
        world_fail("trials were put back, and one of them cannot be");
    for (size_t i = reopenings->count; i < record->reopened_count; i++) {
        int64_t trial = record->reopened[i].trial;

        if (!is_meant(history, trial))
            world_fail("trial %" PRId64 " was put back, and nobody asked for "
                       "it",
                       trial);
        for (size_t j = reopenings->count; j < i; j++) {
            if (record->reopened[j].trial == trial)
                world_fail("trial %" PRId64 " was put back twice", trial);
        }
    }
    for (size_t i = 0; i < before->job_count; i++) {
        const struct record_job *job = &before->jobs[i];

        if (is_meant(history, job->number) &&
            !is_reopened(history, record, job->number) &&
            !may_be_left_out(history, record, job))
            world_fail("trial %" PRId64 " was not put back with the others",
                       job->number);
    }
}

/* Takes over what the record says; how many there are. */
static size_t take_over(struct history *history, const struct record *record)
{
    struct reopenings *reopenings = &history->reopenings;
    size_t before = reopenings->count;

    for (size_t i = before; i < record->reopened_count; i++) {
        const struct record_reopened *reopened = &record->reopened[i];

        world_trace("trial %" PRId64 ": is put back", reopened->trial);
        reopenings->all =
            mem_grow(reopenings->all, reopenings->count, &reopenings->capacity,
                     sizeof(*reopenings->all));
        reopenings->all[reopenings->count++] = (struct reopening_done){
            reopened->trial, reopened->attempts, history->end_count};
    }
    return reopenings->count - before;
}

/* It was done, or was not, as the record says. */
static size_t settle(struct history *history, bool is_done)
{
    struct record record;
    size_t count;

    record_read(&record, false);
    if (is_done)
        check_done(history, &record);
    count = take_over(history, &record);
    record_clear(&record);
    if (!is_done && count > 0)
        world_fail("%zu trials were put back, and nobody says so", count);
    history->reopenings.request_count += is_done;
    return count;
}

void reopenings_acknowledge(struct history *history, int64_t count)
{
    size_t found = settle(history, true);

    if ((int64_t)found != count)
        world_fail("%zu trials were put back, and the reply says %" PRId64,
                   found, count);
    history->reopenings.answered_count++;
}

/* Of an experiment, what can be done is not called wrong. */
void reopenings_refuse(struct history *history, int64_t status)
{
    const struct reopening_request *request = &history->reopenings.asked;

    settle(history, false);
    if (history->scenario.step_count == 0 && request->count > 0 &&
        !request->is_wrong && status == err_exit_status(ERR_USAGE))
        world_fail("%zu trials cannot be put back, and are over",
                   request->count);
}

void reopenings_doubt(struct history *history)
{
    struct record record;
    bool is_answered;

    record_read(&record, false);
    is_answered = record.put_backs > history->reopenings.answered_count;
    record_clear(&record);
    settle(history, is_answered);
    history->reopenings.answered_count += is_answered;
}

/* ---- without an engine ---- */

static int put_back(const struct history *history, struct store *store,
                    struct err *err)
{
    const struct experiment_source source = {
        .text = history->scenario.text,
        .length = strlen(history->scenario.text),
        .path = "",
    };
    const struct reopening_request *asked = &history->reopenings.asked;
    const struct reopen_request request = {
        .numbers = asked->numbers,
        .count = asked->count,
        .all_failed = asked->all_failed,
        .even_succeeded = asked->even_succeeded,
    };
    struct diags *diags = diags_create("the scenario");
    struct spec spec;
    size_t count = 0;
    int status = spec_parse(&spec, &source, diags, err);

    if (status == 0)
        status = reopen_trials(store, history->run, spec.workflow, &request,
                               &count, err);
    spec_clear(&spec);
    diags_destroy(diags);
    return status;
}

/* Whether an error left it undone is not known where the disk fails. */
bool reopenings_apply(struct history *history)
{
    struct store *store;
    struct record record;
    struct err err;
    bool is_done;

    if (!reopenings_draw(history))
        return false;
    store = store_open(history->directory, STORE_CREATE, &err);
    if (store == NULL)
        world_fail("the store cannot be opened: %s", err.text);
    world_trace(
        "%zu trials%s are to be put back", history->reopenings.asked.count,
        history->reopenings.asked.all_failed ? " and all that failed" : "");
    is_done = put_back(history, store, &err) == 0;
    store_close(store);
    if (!is_done)
        world_trace("nothing is put back: %s", err.text);
    record_read(&record, false);
    is_done |= record.reopened_count > history->reopenings.count;
    record_clear(&record);
    settle(history, is_done);
    return is_done;
}

/* ---- checks ---- */

bool reopenings_are_of(const struct history *history, int64_t trial)
{
    for (size_t i = 0; i < history->reopenings.count; i++) {
        if (history->reopenings.all[i].trial == trial)
            return true;
    }
    return false;
}

bool reopenings_are_after(const struct history *history, int64_t trial,
                          size_t end)
{
    const struct reopenings *reopenings = &history->reopenings;

    for (size_t i = 0; i < reopenings->count; i++) {
        if (reopenings->all[i].trial == trial && reopenings->all[i].ends > end)
            return true;
    }
    return false;
}

bool reopenings_are_at(const struct history *history, int64_t trial,
                       int64_t attempts)
{
    const struct reopenings *reopenings = &history->reopenings;

    for (size_t i = 0; i < reopenings->count; i++) {
        if (reopenings->all[i].trial == trial &&
            reopenings->all[i].attempts == attempts)
            return true;
    }
    return false;
}

void reopenings_check(const struct history *history,
                      const struct record *record)
{
    const struct reopenings *reopenings = &history->reopenings;

    if (record->put_backs != reopenings->answered_count)
        world_fail("engines were asked %" PRId64 " times to put trials back, "
                   "and the record has %" PRId64 " answers",
                   reopenings->answered_count, record->put_backs);
    if (record->reopened_count != reopenings->count)
        world_fail("%zu trials were put back, and the record has %zu",
                   reopenings->count, record->reopened_count);
    for (size_t i = 0; i < reopenings->count; i++) {
        if (record->reopened[i].trial != reopenings->all[i].trial)
            world_fail("trial %" PRId64 " was put back, by the record %" PRId64,
                       reopenings->all[i].trial, record->reopened[i].trial);
    }
}

void reopenings_clear(struct history *history)
{
    record_clear(&history->reopenings.asked.before);
    free(history->reopenings.all);
    history->reopenings.all = NULL;
}
