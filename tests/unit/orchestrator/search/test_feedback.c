/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What search and schedule were told comes back in its order. */
#include "orchestrator/search/feedback.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "tests/unit/store/store_test.h"
#include "tests/unit/strategies/spaces.h"

/* One at a time goes on, of three; higher is better. */
static const struct experiment experiment = {
    .objectives = (struct objective[]){{.metric = "loss", .maximize = true}},
    .objective_count = 1,
    .schedule = {.is_on = true,
                 .options = {.method = "asha",
                             .min = 1,
                             .max = 9,
                             .eta = 3,
                             .type = SCHEDULE_PROMOTION,
                             .maximize = true}},
};

/* ---- a record ---- */

static int64_t add_trial(struct store *store, int64_t number, int64_t seen)
{
    struct err err = {0};
    struct job_new job = {.run = 1,
                          .number = number,
                          .state = "ready",
                          .step = -1,
                          .seen = seen,
                          .resource = number == 5 ? 0 : 1,
                          .parent = number == 4 ? 1 : 0,
                          .rung = number == 4 ? 2 : 0,
                          .time_ms = 1};
    int64_t id;

    must(store_add_job(store, &job, &id, &err));
    return id;
}

static void observe(struct store *store, int64_t job, int64_t told,
                    int64_t resource, double value)
{
    struct err err = {0};
    struct observation_new observation = {.run = 1,
                                          .job = job,
                                          .attempt = 1,
                                          .resource = resource,
                                          .told = told,
                                          .rung = resource == 1 ? 0 : 1,
                                          .values = &value,
                                          .value_count = 1,
                                          .last = value,
                                          .best = value,
                                          .decision = "pause",
                                          .reason = "why",
                                          .time_ms = 1};

    must(store_add_observation(store, &observation, &err));
}

static void promote(struct store *store, int64_t job, int64_t told)
{
    struct err err = {0};
    struct job_promotion promotion = {.run = 1,
                                      .job = job,
                                      .at_resource = 1,
                                      .resource = 3,
                                      .told = told,
                                      .rung = 1,
                                      .reason = "best",
                                      .state = "ready",
                                      .event = "promoted",
                                      .time_ms = 1};

    must(store_promote_job(store, &promotion, &err));
}

static void end(struct store *store, int64_t job, int64_t told,
                const char *state)
{
    struct err err = {0};
    struct job_change change = {.run = 1,
                                .job = job,
                                .state = state,
                                .event = state,
                                .time_ms = 1,
                                .ended_ms = 1,
                                .told = told};

    must(store_change_job(store, &change, &err));
}

/* Of three trials that pause the best one goes on, and fails; the others are
 * stopped; one of them is put back, and ends well. The last is none of the
 * schedule's. */
static struct store *fill(const char *folder)
{
    struct err err = {0};
    struct store *store = must_open(folder, STORE_CREATE);
    int64_t run, jobs[3];

    must(store_begin(store, &err));
    must(fill_run(store, "r", "maximize", &run, &err));
    for (int i = 0; i < 3; i++)
        jobs[i] = add_trial(store, i + 1, 0);
    observe(store, jobs[1], 1, 1, 0.5);
    observe(store, jobs[0], 2, 1, 0.75);
    observe(store, jobs[2], 3, 1, NAN);
    promote(store, jobs[0], 4);
    add_trial(store, 4, 4);
    end(store, jobs[0], 5, "failed");
    end(store, jobs[1], 6, "stopped");
    end(store, jobs[2], 7, "stopped");
    must(store_reopen_job(store, jobs[1], "ready", "reopened", 2, &err));
    end(store, jobs[1], 8, "succeeded");
    end(store, add_trial(store, 5, 8), 9, "failed");
    must(store_commit(store, &err));
    return store;
}

/* ---- what comes of it ---- */

struct reading {
    struct feedback *told;
    struct buf said;
    struct strategy *strategy;
    struct scheduler *scheduler;
    struct convergence *convergence;
    struct value point[4]; /* whatever it is */
    struct err *err;
};

static void tell(struct reading *reading, const struct feedback_item *item)
{
    static const char *const kinds[] = {"result", "observation", "promotion"};
    struct verdict verdict;
    struct assignment next;

    buf_printf(&reading->said, "%" PRId64 ": %s of %" PRId64, item->place,
               kinds[item->kind], item->number);
    if (item->kind == FEEDBACK_PROMOTION) {
        scheduler_next(reading->scheduler, false, &next);
        assert_int_equal(next.kind, NEXT_PROMOTE);
        assert_int_equal(next.trial, item->number);
        assert_int_equal(next.resource, item->resource);
        assert_int_equal(next.rung, item->rung);
    }
    feedback_tell(reading->strategy, reading->scheduler, &experiment, item,
                  &verdict);
    feedback_tell_convergence(reading->convergence, &experiment, item);
    if (item->kind == FEEDBACK_OBSERVATION)
        buf_printf(&reading->said, " at %" PRId64 ", %g %g, %s as %s",
                   item->resource, item->values[0], item->last,
                   decision_names[verdict.decision],
                   decision_names[item->decision]);
    if (item->kind == FEEDBACK_RESULT)
        buf_printf(&reading->said, "%s%s%s",
                   item->is_scheduled ? ", scheduled" : "",
                   item->was_paused ? ", was paused" : "",
                   item->is_superseded ? ", superseded" : "");
    buf_add_char(&reading->said, '\n');
}

static void tell_until(struct reading *reading, int64_t place)
{
    const struct feedback_item *item;

    while ((item = feedback_next(reading->told, place)) != NULL)
        tell(reading, item);
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct reading *reading = user;
    struct assignment assignment;

    if (feedback_add(reading->told, row, reading->err) != 0)
        return -1;
    tell_until(reading, row->seen);
    assert_int_equal(feedback_assignment(row, &assignment), row->number < 5);
    assert_int_equal(assignment.resource, row->number < 5);
    buf_printf(&reading->said, "trial %" PRId64 "%s\n", row->number,
               assignment.kind == NEXT_CLONE ? ", a clone" : "");
    convergence_ask(reading->convergence, (uint64_t)row->number,
                    reading->point);
    strategy_restore(reading->strategy, (uint64_t)row->number, reading->point,
                     row->cursor);
    if (assignment.kind == NEXT_CLONE) {
        assert_int_equal(assignment.trial, 1);
        assert_int_equal(assignment.rung, 2);
        return 0;
    }
    if (row->number == 5)
        return 0;
    scheduler_assign(reading->scheduler, (uint64_t)row->number, &assignment);
    return 0;
}

static void test_feedback__places_come_in_their_order(void **state)
{
    const struct strategy_options options = {.method = "random"};
    struct err err = {0};
    struct expr_env *env = expr_env_create(&err);
    struct space *space = spec_build(&specs[0], env);
    struct store *store = fill(*state);
    struct reading reading = {
        .told = feedback_create(&experiment, store, 1, &err),
        .strategy = strategy_create(&options, space, &err),
        .scheduler =
            scheduler_create(&experiment.schedule.options, space, &err),
        .convergence = convergence_create(
            &(struct convergence_options){.improvement = 0.01}, space),
        .point = {value_real(0.5), value_real(0.5), value_real(0.5),
                  value_real(0.5)},
        .err = &err,
    };
    struct trial_query query = {.run = 1};
    struct assignment next;

    assert_non_null(reading.told);
    must(store_each_trial(store, &query, on_trial, &reading, &err));
    tell_until(&reading, INT64_MAX);
    assert_string_equal(buf_text(&reading.said),
                        "trial 1\n"
                        "trial 2\n"
                        "trial 3\n"
                        "1: observation of 2 at 1, 0.5 0.5, pause as pause\n"
                        "2: observation of 1 at 1, 0.75 0.75, pause as pause\n"
                        "3: observation of 3 at 1, nan nan, pause as pause\n"
                        "4: promotion of 1\n"
                        "trial 4, a clone\n"
                        "5: result of 1, scheduled\n"
                        "6: result of 2, scheduled, was paused, superseded\n"
                        "7: result of 3, scheduled, was paused\n"
                        "8: result of 2\n"
                        "trial 5\n"
                        "9: result of 5\n");
    scheduler_next(reading.scheduler, true, &next);
    assert_int_equal(next.kind, NEXT_NONE);
    buf_clear(&reading.said);
    feedback_destroy(reading.told);
    strategy_destroy(reading.strategy);
    scheduler_destroy(reading.scheduler);
    convergence_destroy(reading.convergence);
    space_destroy(space);
    expr_env_destroy(env);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_feedback__places_come_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
