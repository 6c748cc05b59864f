/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the record holds of schedules: rungs, observations, promotions. */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "tests/unit/store/store_repair.h"

/* ---- a trial that pauses, and goes on ---- */

static const struct rung_new rungs[] = {
    {.bracket = 0, .rung = 0, .resource = 1, .trials = 9},
    {.bracket = 0, .rung = 1, .resource = 3},
    {.bracket = 1, .rung = 0, .resource = 3, .trials = 5},
};

static const struct outcome_bounds size_bound = {
    .metric = "size", .min = -INFINITY, .max = 9};

static int add_run(struct store *store, int64_t *run, struct err *err)
{
    return store_add_run(
        store,
        &(struct run_new){.name = "r",
                          .kind = "experiment",
                          .spec = "version: 1\n",
                          .overrides = "[]",
                          .spec_path = "",
                          .work_directory = "/tmp",
                          .metrics = (const char *const[]){"loss", "time"},
                          .goals =
                              (const char *const[]){"minimize", "minimize"},
                          .objective_count = 2,
                          .outcomes = &size_bound,
                          .outcome_count = 1,
                          .rungs = rungs,
                          .rung_count = ARRAY_LEN(rungs),
                          .time_ms = 1},
        run, err);
}

static int change(struct store *store, int64_t job, const char *event,
                  const char *state, struct err *err)
{
    bool is_over = strcmp(state, "stopped") == 0;

    return store_change_job(store,
                            &(struct job_change){.run = 1,
                                                 .job = job,
                                                 .state = state,
                                                 .event = event,
                                                 .cause = "ok",
                                                 .told = is_over ? 4 : 0,
                                                 .ended_ms = is_over ? 9 : 0,
                                                 .time_ms = 9},
                            err);
}

/* An attempt from its beginning to what came of it. */
static int run_attempt(struct store *store,
                       const struct observation_new *observation,
                       int64_t number, struct err *err)
{
    struct attempt_new attempt = {.run = 1,
                                  .job = observation->job,
                                  .number = number,
                                  .directory = "runs/r/1/1",
                                  .resource = observation->resource,
                                  .resource_from = number - 1,
                                  .time_ms = 2};
    struct attempt_end end = {.run = 1,
                              .job = observation->job,
                              .cause = "ok",
                              .ended_ms = 3,
                              .rule = -1,
                              .resource_used = observation->resource};
    struct observation_new observed = *observation;

    if (store_add_attempt(store, &attempt, &end.attempt, err) < 0 ||
        store_set_attempt_running(
            store,
            &(struct attempt_change){.run = 1,
                                     .job = attempt.job,
                                     .attempt = end.attempt,
                                     .pid = 7,
                                     .time_ms = 2},
            err) < 0 ||
        change(store, attempt.job, "started", "running", err) < 0 ||
        store_end_attempt(store, &end, err) < 0)
        return -1;
    observed.attempt = end.attempt;
    return store_add_observation(store, &observed, err) < 0
               ? -1
               : change(store, attempt.job, "paused", "paused", err);
}

static struct job_promotion promotion(int64_t job)
{
    return (struct job_promotion){.run = 1,
                                  .job = job,
                                  .at_resource = 1,
                                  .resource = 3,
                                  .told = 2,
                                  .rung = 1,
                                  .reason = "best of \"3\"",
                                  .state = "ready",
                                  .event = "promoted",
                                  .time_ms = 5};
}

/* Run 1 with one trial: paused at 1, promoted, paused at 3. Returns its job. */
static int64_t fill(struct store *store)
{
    static const double values[] = {0.1 + 0.2, NAN}, outcomes[] = {INFINITY};
    struct observation_new observation = {.run = 1,
                                          .resource = 1,
                                          .told = 1,
                                          .rung = 0,
                                          .values = values,
                                          .value_count = 2,
                                          .outcomes = outcomes,
                                          .outcome_count = 1,
                                          .last = 0.5,
                                          .best = -INFINITY,
                                          .decision = "pause",
                                          .reason = "rung 0",
                                          .time_ms = 4};
    struct job_new job = {.run = 1,
                          .number = 1,
                          .state = "ready",
                          .step = -1,
                          .bracket = 1,
                          .rung = 2,
                          .resource = 1,
                          .parent = 7,
                          .time_ms = 2};
    struct job_promotion promoted;
    struct err err = {0};
    int64_t run;

    must(store_begin(store, &err));
    must(add_run(store, &run, &err));
    must(store_add_job(store, &job, &observation.job, &err));
    must(run_attempt(store, &observation, 1, &err));
    promoted = promotion(observation.job);
    must(store_promote_job(store, &promoted, &err));
    observation.told = 3;
    observation.resource = 3;
    observation.rung = -1;
    observation.value_count = observation.outcome_count = 0;
    observation.last = observation.best = NAN;
    must(run_attempt(store, &observation, 2, &err));
    must(store_commit(store, &err));
    return observation.job;
}

/* ---- what comes back ---- */

static int print_rung(void *user, const struct rung_new *rung)
{
    buf_printf(user, "%d.%d %d %d\n", (int)rung->bracket, (int)rung->rung,
               (int)rung->resource, (int)rung->trials);
    return 0;
}

static int print_observation(void *user, const struct observation_row *row)
{
    buf_printf(user, "%d: %d/%d at %d, %d.%d %s %s %g %g %s '%s' %d to %d\n",
               (int)row->told, (int)row->number, (int)row->attempt_number,
               (int)row->resource, (int)row->bracket, (int)row->rung,
               row->values, row->outcomes, row->last, row->best, row->decision,
               row->reason, (int)row->promoted, (int)row->promoted_to);
    return 0;
}

static int print_trial(void *user, const struct trial_row *row)
{
    buf_printf(user, "%s %s %d.%d %d %d of %d, told %d, ended %d\n", row->state,
               row->cause != NULL ? row->cause : "-", (int)row->bracket,
               (int)row->rung, (int)row->first_resource, (int)row->resource,
               (int)row->parent, (int)row->told, (int)row->ended_ms);
    return 0;
}

static int print_attempt(void *user, const struct attempt_row *row)
{
    buf_printf(user, "%d to %d, %d\n", (int)row->resource_from,
               (int)row->resource, (int)row->resource_used);
    return 0;
}

static void must_say(struct buf *said, const char *text)
{
    assert_string_equal(buf_text(said), text);
    buf_clear(said);
}

static void see_trials(struct store *store, struct buf *said)
{
    struct err err = {0};
    struct trial_query query = {.run = 1};

    must(store_each_trial(store, &query, print_trial, said, &err));
}

static void test_store_schedule__all_of_it_comes_back(void **state)
{
    struct err err = {0};
    struct buf said = BUF_INIT;
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t job = fill(store);

    must(store_each_rung(store, 1, print_rung, &said, &err));
    must_say(&said, "0.0 1 9\n0.1 3 0\n1.0 3 5\n");
    see_trials(store, &said);
    must_say(&said, "paused ok 1.2 1 3 of 7, told 0, ended 0\n");
    must(store_each_attempt(store, 1, job, print_attempt, &said, &err));
    must_say(&said, "0 to 1, 1\n1 to 3, 3\n");
    must(store_each_observation(store, 1, 0, print_observation, &said, &err));
    must_say(&said, "1: 1/1 at 1, 1.0 [0.30000000000000004,\"nan\"] [\"inf\"]"
                    " 0.5 -inf pause 'rung 0' 2 to 3\n"
                    "3: 1/2 at 3, 1.-1 [] [] nan nan pause 'rung 0' 0 to 0\n");
    must(store_each_observation(store, 1, job + 1, print_observation, &said,
                                &err));
    must_say(&said, "");
    store_close(store);
}

static int print_event(void *user, const struct event_row *event)
{
    if (strcmp(event->event, "observed") == 0 ||
        strcmp(event->event, "suggested") == 0 ||
        strcmp(event->event, "promoted") == 0)
        buf_printf(user, "%s %s\n", event->event, event->detail);
    return 0;
}

static void test_store_schedule__events_tell_all_of_it(void **state)
{
    struct err err = {0};
    struct buf said = BUF_INIT;
    struct store *store = must_open(*state, STORE_CREATE);

    fill(store);
    must(store_each_event(store, 1, print_event, &said, &err));
    must_say(
        &said,
        "suggested {\"state\":\"ready\",\"number\":1,\"cursor\":0,\"seen\":0,"
        "\"bracket\":1,\"rung\":2,\"resource\":1,\"parent\":7,\"params\":[]}\n"
        "observed {\"told\":1,\"resource\":1,\"rung\":0,"
        "\"values\":[0.30000000000000004,\"nan\"],\"outcomes\":[\"inf\"],"
        "\"last\":[0.5],\"best\":[\"-inf\"],\"decision\":\"pause\","
        "\"reason\":\"rung 0\"}\n"
        "promoted {\"state\":\"ready\",\"told\":2,\"resource\":3,\"rung\":1,"
        "\"reason\":\"best of \\\"3\\\"\"}\n"
        "observed {\"told\":3,\"resource\":3,\"values\":[],\"outcomes\":[],"
        "\"decision\":\"pause\",\"reason\":\"rung 0\"}\n");
    store_close(store);
}

static void test_store_schedule__only_what_waits_is_promoted(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct job_promotion again = promotion(fill(store));

    must(store_begin(store, &err));
    again.told = 4;
    assert_int_equal(store_promote_job(store, &again, &err), -1);
    assert_non_null(strstr(err.text, "does not wait at resource 1"));
    store_rollback(store);
    must(store_begin(store, &err));
    again.at_resource = 3;
    again.resource = 9;
    must(store_promote_job(store, &again, &err));
    assert_int_equal(store_promote_job(store, &again, &err), -1);
    store_rollback(store);
    store_close(store);
}

/* Where it began stays, as history. */
static void test_store_schedule__is_left_by_a_trial_put_back(void **state)
{
    struct err err = {0};
    struct buf said = BUF_INIT;
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t job = fill(store);

    must(store_begin(store, &err));
    must(change(store, job, "stopped", "stopped", &err));
    must(store_reopen_job(store, job, "ready", "reopened", 10, &err));
    must(store_commit(store, &err));
    see_trials(store, &said);
    must_say(&said, "ready - 1.2 1 0 of 7, told 0, ended 0\n");
    store_close(store);
}

/* ---- check and repair ---- */

static void test_store_schedule__what_is_damaged_is_found_and_mended(
    void **state)
{
    static const char *const damages[] = {
        "UPDATE observation SET promoted_to = 27 WHERE told = 1",
        "UPDATE observation SET decision = 'stop', last = 0.25 WHERE told = 3",
        "UPDATE observation SET told = 5 WHERE told = 3",
        "UPDATE observation SET attempt_id = 77, \"values\" = '[1]'",
        "DELETE FROM observation WHERE told = 1",
        "UPDATE job SET bracket = 0, first_resource = NULL",
        "UPDATE job SET resource = 9",
        "DELETE FROM job",
        "UPDATE attempt SET resource_used = NULL WHERE number = 2",
        "UPDATE attempt SET resource = 3 WHERE number = 1",
        "UPDATE attempt SET resource_from = NULL WHERE number = 2",
        "DELETE FROM run_rung WHERE bracket = 0",
        "UPDATE run_rung SET trials = 1",
        "DELETE FROM run",
        "INSERT INTO observation SELECT 1, 9, job_id, 9, attempt_id, 0, '[]',"
        " '[]', 0.0, 0.0, 'pause', '', NULL, NULL, 1 FROM observation"
        " WHERE told = 1",
    };
    struct store *store = must_open(*state, STORE_CREATE);

    fill(store);
    store_close(store);
    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        assert_mended(*state, damages[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_schedule__all_of_it_comes_back),
        STORE_TEST(test_store_schedule__events_tell_all_of_it),
        STORE_TEST(test_store_schedule__only_what_waits_is_promoted),
        STORE_TEST(test_store_schedule__is_left_by_a_trial_put_back),
        STORE_TEST(test_store_schedule__what_is_damaged_is_found_and_mended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
