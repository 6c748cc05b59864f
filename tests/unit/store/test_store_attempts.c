/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attempts, metrics and events come back as they were written. */
#include "store/store.h"

#include "tests/unit/store/store_test.h"

struct seen_attempts {
    int count;
    struct attempt_row rows[4];
    char cause[4][32], text[4][64];
};

static int see_attempt(void *user, const struct attempt_row *attempt)
{
    struct seen_attempts *seen = user;

    seen->rows[seen->count] = *attempt;
    snprintf(seen->cause[seen->count], 32, "%s",
             attempt->cause ? attempt->cause : "-");
    snprintf(seen->text[seen->count], 64, "%s",
             attempt->text ? attempt->text : "-");
    assert_string_equal(attempt->directory, "runs/r/1/1");
    seen->count++;
    return 0;
}

static void test_store_attempts__attempts_come_back(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 0);
    struct seen_attempts seen = {0};
    struct attempt_end end = {.run = 1,
                              .cause = "signal",
                              .exit_code = -1,
                              .signal = 9,
                              .started_ms = 21,
                              .ended_ms = 30,
                              .cpu_ms = 4,
                              .max_rss_bytes = 1LL << 40,
                              .has_gpu_use = true,
                              .gpu_ms = 0,
                              .gpu_memory_bytes = 1LL << 37,
                              .text = "went\naway",
                              .rule = 2};
    int64_t job, second;

    must(store_begin(store, &err));
    must(fill_job(store, 1, 1, &job, &err));
    end.job = job;
    must(fill_attempt(store, 1, job, 1, 20, &end.attempt, &err));
    assert_int_equal(fill_attempt(store, 1, job, 2, 21, &second, &err), -1);
    must(store_end_attempt(store, &end, &err));
    assert_int_equal(store_end_attempt(store, &end, &err), -1);
    must(fill_attempt(store, 1, job, 2, 40, &second, &err));
    must(store_commit(store, &err));

    must(store_each_attempt(store, 1, 0, see_attempt, &seen, &err));
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.rows[0].id, second);
    seen.count = 0;
    must(store_each_attempt(store, 1, job, see_attempt, &seen, &err));
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.cause[0], "signal");
    assert_string_equal(seen.text[0], "went\naway");
    assert_int_equal(seen.rows[0].exit_code, -1);
    assert_int_equal(seen.rows[0].signal, 9);
    assert_int_equal(seen.rows[0].rule, 2);
    assert_int_equal(seen.rows[1].rule, -1);
    assert_int_equal(seen.rows[0].started_ms, 21);
    assert_int_equal(seen.rows[0].ended_ms, 30);
    assert_true(seen.rows[0].max_rss_bytes == 1LL << 40);
    assert_int_equal(seen.rows[0].gpu_ms, 0);
    assert_true(seen.rows[0].gpu_memory_bytes == 1LL << 37);
    assert_int_equal(seen.rows[1].gpu_ms, -1);
    assert_int_equal(seen.rows[1].gpu_memory_bytes, -1);
    assert_string_equal(seen.cause[1], "-");
    assert_string_equal(seen.text[1], "-");
    assert_int_equal(seen.rows[1].pid, 4711);
    assert_int_equal(seen.rows[1].number, 2);
    assert_int_equal(seen.rows[1].job_number, 1);
    store_close(store);
}

/* A power cut took what it left when it began. */
static void test_store_attempts__what_never_began_took_no_time(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 0);
    struct seen_attempts seen = {0};
    struct attempt_end end = {
        .run = 1, .cause = "cancelled", .exit_code = -1, .ended_ms = 99};

    must(store_begin(store, &err));
    must(fill_job(store, 1, 1, &end.job, &err));
    must(fill_attempt(store, 1, end.job, 1, 20, &end.attempt, &err));
    must(store_end_attempt(store, &end, &err));
    must(store_commit(store, &err));
    must(store_each_attempt(store, 1, end.job, see_attempt, &seen, &err));
    assert_int_equal(seen.rows[0].started_ms, 0);
    store_close(store);
}

static int see_metric(void *user, const struct metric_row *metric)
{
    char *text = user;
    size_t length = strlen(text);

    snprintf(text + length, 512 - length, "%s/%d/%g ", metric->name,
             (int)metric->step, metric->value);
    return 0;
}

static void test_store_attempts__metrics_come_back_and_the_last_wins(
    void **state)
{
    static const struct metric_new metrics[] = {
        {.name = "loss", .step = 2, .value = 0.5},
        {.name = "loss", .step = 1, .value = INFINITY},
        {.name = "it's \"acc\"", .step = -3, .value = NAN},
        {.name = "loss", .step = 2, .value = 0.25}};
    struct err err = {0};
    struct store *store = must_fill(*state, 0);
    struct metric_new metric;
    char text[512] = "";
    int64_t job;

    must(store_begin(store, &err));
    must(fill_job(store, 1, 1, &job, &err));
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        metric = metrics[i];
        metric.job = job;
        must(store_add_metric(store, &metric, &err));
    }
    must(store_commit(store, &err));
    must(store_each_metric(store, job, see_metric, text, &err));
    assert_string_equal(text, "loss/1/inf loss/2/0.25 it's \"acc\"/-3/nan ");
    store_close(store);
}

static int see_event(void *user, const struct event_row *event)
{
    char *text = user;
    size_t length = strlen(text);

    snprintf(text + length, 2048 - length, "%d %s %s\n", (int)event->job_number,
             event->event, event->detail);
    return 0;
}

static void test_store_attempts__each_change_leaves_an_event(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 0);
    char text[2048] = "";

    must(store_begin(store, &err));
    must(fill_trial(store, 1, 1, -INFINITY, &err));
    must(store_set_run_engine(store, 1, 7, "b", 1, &err));
    must(store_set_run_engine(store, 1, 0, "", 2, &err));
    must(store_set_run_state(store, 1, "failed", "a \"b\"\n\\", 3, &err));
    must(store_commit(store, &err));
    must(store_each_event(store, 1, see_event, text, &err));
    assert_string_equal(
        text,
        "0 run_created {\"state\":\"running\",\"name\":\"r\","
        "\"kind\":\"experiment\",\"spec\":\"version: 1\\u000atrial: "
        "{command: \\\"true\\\"}\\u000a\","
        "\"overrides\":\"[]\",\"spec_path\":\"/tmp/exp.yaml\","
        "\"work_directory\":\"/tmp\",\"seed\":-1,\"metrics\":[\"loss\"],"
        "\"goals\":[\"minimize\"],\"params\":[\"lr\",\"width\","
        "\"optimizer\",\"nesterov\",\"momentum\",\"decay\",\"layers\","
        "\"dropout\",\"batch\",\"epochs\"],\"outcomes\":[]}\n"
        "1 suggested {\"state\":\"ready\",\"number\":1,\"cursor\":1,"
        "\"seen\":0,\"params\":[0.1,1,\"sgd\",true,0.9,1e-05,3,0.5,128,27]}\n"
        "1 attempt_starting {\"number\":1,\"directory\":\"runs/r/1/1\"}\n"
        "1 attempt_running {\"pid\":4711}\n"
        "1 started {\"state\":\"running\",\"started_ms\":1767225601000}\n"
        "1 attempt_ended {\"cause\":\"ok\",\"exit_code\":0,"
        "\"started_ms\":1767225601000,\"cpu_ms\":900,"
        "\"max_rss_bytes\":1048576}\n"
        "1 succeeded {\"state\":\"succeeded\",\"cause\":\"ok\","
        "\"ended_ms\":1767225602000,\"values\":[\"-inf\"]}\n"
        "0 engine_started {\"pid\":7,\"boot_id\":\"b\"}\n"
        "0 engine_ended {\"pid\":0,\"boot_id\":\"\"}\n"
        "0 run_state {\"state\":\"failed\","
        "\"reason\":\"a \\\"b\\\"\\u000a\\\\\"}\n");
    store_close(store);
}

static void test_store_attempts__events_cannot_be_changed(void **state)
{
    struct store *store = must_fill(*state, 1);
    char *answer;

    store_close(store);
    free(ask_sqlite(*state, "UPDATE event SET event = 'x'"));
    free(ask_sqlite(*state, "DELETE FROM event"));
    answer = ask_sqlite(*state, "SELECT count(*), sum(event = 'x') FROM event");
    assert_string_equal(answer, "7|0");
    free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_attempts__attempts_come_back),
        STORE_TEST(test_store_attempts__what_never_began_took_no_time),
        STORE_TEST(test_store_attempts__metrics_come_back_and_the_last_wins),
        STORE_TEST(test_store_attempts__each_change_leaves_an_event),
        STORE_TEST(test_store_attempts__events_cannot_be_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
