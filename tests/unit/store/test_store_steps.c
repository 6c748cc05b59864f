/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the record holds of a workflow. */
#include "store/store.h"

#include <inttypes.h>

#include "base/buf.h"
#include "tests/unit/store/store_repair.h"

#define must_say(said, expected)                                               \
    do {                                                                       \
        assert_string_equal(buf_text(said), expected);                         \
        buf_truncate(said, 0);                                                 \
    } while (0)

static int64_t must_add_run(struct store *store, const char *name,
                            int64_t parent, int64_t parent_job)
{
    static const char *const steps[] = {"prepare", "train", "tell"};
    struct err err = {0};
    int64_t run;

    must(store_add_run(store,
                       &(struct run_new){.name = name,
                                         .kind = "workflow",
                                         .spec = "steps: {}\n",
                                         .overrides = "[]",
                                         .spec_path = "",
                                         .work_directory = "/tmp",
                                         .steps = steps,
                                         .step_count = ARRAY_LEN(steps),
                                         .parent = parent,
                                         .parent_job = parent_job,
                                         .time_ms = 1},
                       &run, &err));
    return run;
}

static int64_t must_add_job(struct store *store, int64_t run, int64_t number,
                            int64_t step, int64_t copy, int64_t round)
{
    struct err err = {0};
    int64_t job;

    must(store_add_job(
        store,
        &(struct job_new){.run = run,
                          .number = number,
                          .state = "ready",
                          .step = step,
                          .copy = copy,
                          .round = round,
                          .rounds = round > 0 ? "{\"batch\":32}" : NULL,
                          .time_ms = 2},
        &job, &err));
    return job;
}

static void must_step(struct store *store, const struct step_change *change)
{
    struct err err = {0};

    must(store_change_step(store, change, &err));
}

static int print_step(void *user, const struct step_row *step)
{
    buf_printf(user, "%" PRId64 " %s %s", step->step, step->name, step->state);
    if (step->reason != NULL)
        buf_printf(user, " (%s)", step->reason);
    if (step->copies >= 0)
        buf_printf(user, " x%" PRId64, step->copies);
    if (step->matrix != NULL)
        buf_printf(user, " of %s", step->matrix);
    buf_printf(user, " %" PRId64 "-%" PRId64 "\n", step->began_ms,
               step->ended_ms);
    return 0;
}

static int print_counts(void *user, const struct step_row *step)
{
    buf_printf(user,
               "%s %" PRId64 ": %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
               " %" PRId64 "\n",
               step->name, step->jobs, step->pending, step->running,
               step->succeeded, step->failed, step->skipped);
    return 0;
}

static int print_job(void *user, const struct trial_row *job)
{
    buf_printf(user, "%" PRId64 " %" PRId64 "[%" PRId64 "]#%" PRId64 " %s",
               job->number, job->step, job->copy, job->round, job->state);
    if (job->rounds != NULL)
        buf_printf(user, " %s", job->rounds);
    if (job->outputs != NULL)
        buf_printf(user, " -> %s", job->outputs);
    if (job->cache_key != NULL)
        buf_printf(user, " key %s", job->cache_key);
    if (job->cached_from != 0)
        buf_printf(user, " as %" PRId64, job->cached_from);
    buf_add_char(user, '\n');
    return 0;
}

static void see_steps(struct store *store, int64_t run, struct buf *said)
{
    struct err err = {0};

    must(store_each_step(store, run, print_step, said, &err));
}

static void see_jobs(struct store *store, int64_t run, struct buf *said)
{
    struct err err = {0};

    must(store_each_trial(store, &(struct trial_query){.run = run}, print_job,
                          said, &err));
}

static void test_store_steps__begin_end_and_wait_again(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct buf said = BUF_INIT;
    int64_t run;

    must(store_begin(store, &err));
    run = must_add_run(store, "w", 0, 0);
    see_steps(store, run, &said);
    must_say(&said, "0 prepare waiting 0-0\n1 train waiting 0-0\n"
                    "2 tell waiting 0-0\n");
    must_step(store, &(struct step_change){.run = run,
                                           .step = 1,
                                           .state = "active",
                                           .event = "step_began",
                                           .first_job = 1,
                                           .copies = 2,
                                           .matrix = "{\"part\":[0,1]}",
                                           .time_ms = 5});
    must_step(store, &(struct step_change){.run = run,
                                           .step = 0,
                                           .state = "active",
                                           .event = "step_began",
                                           .first_job = 1,
                                           .time_ms = 6});
    must_step(store, &(struct step_change){.run = run,
                                           .step = 2,
                                           .state = "skipped",
                                           .event = "step_skipped",
                                           .reason = "none failed",
                                           .time_ms = 7});
    see_steps(store, run, &said);
    must_say(&said, "0 prepare active x0 6-0\n"
                    "1 train active x2 of {\"part\":[0,1]} 5-0\n"
                    "2 tell skipped (none failed) 0-7\n");
    must_step(store, &(struct step_change){.run = run,
                                           .step = 1,
                                           .state = "failed",
                                           .event = "step_ended",
                                           .reason = "1 of 2 failed",
                                           .time_ms = 9});
    see_steps(store, run, &said);
    must_say(&said, "0 prepare active x0 6-0\n"
                    "1 train failed (1 of 2 failed) x2 of {\"part\":[0,1]} "
                    "5-9\n2 tell skipped (none failed) 0-7\n");
    must_step(store, &(struct step_change){.run = run,
                                           .step = 1,
                                           .state = "active",
                                           .event = "step_reopened",
                                           .time_ms = 10});
    must_step(store, &(struct step_change){.run = run,
                                           .step = 2,
                                           .state = "waiting",
                                           .event = "step_reopened",
                                           .time_ms = 10});
    must_step(store, &(struct step_change){.run = run,
                                           .step = 0,
                                           .state = "waiting",
                                           .event = "step_reopened",
                                           .time_ms = 10});
    see_steps(store, run, &said);
    must_say(&said, "0 prepare waiting 0-0\n"
                    "1 train active x2 of {\"part\":[0,1]} 5-0\n"
                    "2 tell waiting 0-0\n");
    assert_int_equal(
        store_change_step(store,
                          &(struct step_change){.run = run,
                                                .step = 3,
                                                .state = "active",
                                                .event = "step_began"},
                          &err),
        -1);
    assert_non_null(strstr(err.text, "has no step 3"));
    store_close(store);
    buf_clear(&said);
}

static void test_store_steps__jobs_know_their_copy(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct buf said = BUF_INIT;
    struct job_change change = {.state = "succeeded",
                                .cause = "ok",
                                .event = "succeeded",
                                .time_ms = 5,
                                .ended_ms = 5,
                                .told = 1,
                                .outputs = "{\"rows\":3}",
                                .cache_key = "abc"};

    must(store_begin(store, &err));
    change.run = must_add_run(store, "w", 0, 0);
    for (int64_t step = 0; step < 2; step++)
        must_step(store, &(struct step_change){.run = change.run,
                                               .step = step,
                                               .state = "active",
                                               .event = "step_began",
                                               .first_job = 1,
                                               .copies = 9,
                                               .time_ms = 2});
    change.job = must_add_job(store, change.run, 1, 0, 0, 0);
    must_add_job(store, change.run, 2, 1, 7, 2);
    must(store_change_job(store, &change, &err));
    change.job = must_add_job(store, change.run, 3, 1, 8, 2);
    change.told = 0;
    change.outputs = "{}";
    change.cached_from = 1;
    must(store_change_job(store, &change, &err));
    see_jobs(store, change.run, &said);
    must_say(&said, "1 0[0]#0 succeeded -> {\"rows\":3} key abc\n"
                    "2 1[7]#2 ready {\"batch\":32}\n"
                    "3 1[8]#2 succeeded {\"batch\":32} -> {} key abc as 1\n");
    must(store_each_step(store, change.run, print_counts, &said, &err));
    must_say(&said, "prepare 1: 0 0 1 0 0\ntrain 2: 1 0 1 0 0\n"
                    "tell 0: 0 0 0 0 0\n");
    must(store_reopen_job(store, 1, "ready", "reopened", 6, &err));
    must(store_reopen_job(store, 3, "ready", "reopened", 6, &err));
    assert_int_equal(store_reopen_job(store, 2, "ready", "reopened", 6, &err),
                     -1);
    see_jobs(store, change.run, &said);
    must_say(&said, "1 0[0]#0 ready\n2 1[7]#2 ready {\"batch\":32}\n"
                    "3 1[8]#2 ready {\"batch\":32}\n");
    store_close(store);
    buf_clear(&said);
}

static int print_cached(void *user, const struct cached_row *cached)
{
    buf_printf(user, "%s %" PRId64 " %s at %" PRId64 "\n", cached->run,
               cached->number, cached->outputs, cached->ended_ms);
    return 0;
}

static void test_store_steps__a_result_is_found_by_its_key(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct buf said = BUF_INIT;
    struct job_change change = {.cause = "ok",
                                .event = "succeeded",
                                .time_ms = 5,
                                .outputs = "{}",
                                .cache_key = "abc"};

    must(store_begin(store, &err));
    change.run = must_add_run(store, "w", 0, 0);
    for (int64_t number = 1; number <= 5; number++) {
        change.job = must_add_job(store, change.run, number, 0, number, 0);
        change.state = number == 2 ? "failed" : "succeeded";
        change.ended_ms = 10 * number;
        change.cache_key = number == 4 ? "other" : "abc";
        change.cached_from = number == 5 ? 1 : 0; /* says nothing new */
        must(store_change_job(store, &change, &err));
    }
    must(store_each_cached(store, "abc", 0, print_cached, &said, &err));
    must_say(&said, "w 3 {} at 30\nw 1 {} at 10\n");
    must(store_each_cached(store, "abc", 11, print_cached, &said, &err));
    must_say(&said, "w 3 {} at 30\n");
    must(store_each_cached(store, "abcd", 0, print_cached, &said, &err));
    must_say(&said, "");
    store_close(store);
    buf_clear(&said);
}

static int print_run(void *user, const struct run_row *run)
{
    buf_printf(user, "%s:%" PRId64 " of %" PRId64 ":%" PRId64 " ", run->name,
               run->steps, run->parent_id, run->parent_job);
    return 0;
}

static void test_store_steps__runs_below_go_with_their_run(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct buf said = BUF_INIT;
    int64_t top, middle, found;

    must(store_begin(store, &err));
    top = must_add_run(store, "top", 0, 0);
    middle = must_add_run(store, "middle", top, 11);
    must_add_run(store, "beside", 0, 0);
    must_add_run(store, "bottom", middle, 12);
    must_add_job(store, middle, 1, 0, 0, 0);
    must(store_each_child_run(store, top, print_run, &said, &err));
    must_say(&said, "middle:3 of 1:11 bottom:3 of 2:12 ");
    must(store_each_child_run(store, 3, print_run, &said, &err));
    must_say(&said, "");
    must(store_find_run(store, "last", &found, &err));
    assert_int_equal(found, 3);
    must(store_delete_run(store, top, &err));
    must(store_each_run(store, print_run, &said, &err));
    must_say(&said, "beside:3 of 0:0 ");
    must(store_commit(store, &err));
    store_close(store);
    buf_clear(&said);
}

/* ---- check and repair ---- */

/* A step that is over, one of two copies with a round, and a child run. */
static void fill(struct store *store)
{
    struct err err = {0};
    struct step_change step = {.state = "active",
                               .event = "step_began",
                               .first_job = 1,
                               .copies = 2,
                               .matrix = "{\"part\":[0,1]}",
                               .time_ms = 4};
    struct job_change change = {.state = "skipped",
                                .event = "skipped",
                                .time_ms = 5,
                                .ended_ms = 5,
                                .outputs = "{\"rows\":3}",
                                .cache_key = "abc",
                                .cached_from = 1};

    must(store_begin(store, &err));
    step.run = change.run = must_add_run(store, "w", 0, 0);
    must_step(store, &step);
    must_add_job(store, step.run, 1, 0, 1, 0);
    change.job = must_add_job(store, step.run, 2, 0, 0, 2);
    must(store_change_job(store, &change, &err));
    step.event = "step_ended";
    step.state = "succeeded";
    must_step(store, &step);
    step.event = "step_skipped";
    step.state = "skipped";
    step.reason = "not today";
    step.step = 2;
    must_step(store, &step);
    must_add_run(store, "below", step.run, change.job);
    must(store_commit(store, &err));
}

static void test_store_steps__what_is_damaged_is_found_and_mended(void **state)
{
    static const char *const damages[] = {
        "UPDATE run_step SET state = 'failed' WHERE idx = 0",
        "UPDATE run_step SET copies = 3, matrix = NULL WHERE idx = 0",
        "UPDATE run_step SET reason = 'so' WHERE idx = 2",
        "UPDATE run_step SET began_ms = 1, ended_ms = 2 WHERE idx = 1",
        "UPDATE run_step SET name = 'other' WHERE idx = 1",
        "UPDATE run_step SET idx = 5 WHERE idx = 1 AND run_id = 1",
        "DELETE FROM run_step WHERE run_id = 1",
        "UPDATE job SET copy = 0 WHERE number = 1",
        "UPDATE job SET step = NULL WHERE number = 1",
        "UPDATE job SET round = NULL, rounds = '{}' WHERE number = 2",
        "UPDATE job SET outputs = NULL WHERE number = 2",
        "UPDATE job SET cache_key = 'x', cached_from = 3 WHERE number = 2",
        "DELETE FROM job",
        "DELETE FROM run WHERE id = 1",
        "UPDATE run SET parent_id = 1, parent_job = 4 WHERE id = 1",
    };
    struct store *store = must_open(*state, STORE_CREATE);

    fill(store);
    store_close(store);
    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        assert_mended(*state, damages[i]);
}

/* ---- a store of version 5 ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_steps__begin_end_and_wait_again),
        STORE_TEST(test_store_steps__jobs_know_their_copy),
        STORE_TEST(test_store_steps__a_result_is_found_by_its_key),
        STORE_TEST(test_store_steps__runs_below_go_with_their_run),
        STORE_TEST(test_store_steps__what_is_damaged_is_found_and_mended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
