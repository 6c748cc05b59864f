/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/executor_test.h"

#include "executors/fake/script.h"

static void open_fake(struct bench *bench, const char *script, int parallel,
                      int cpus)
{
    struct executor_options options = {
        .name = "fake", .cpus = cpus, .gpus = 0, .parallel = parallel};
    char path[] = "/tmp/smtune-test-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), strlen(script));
    close(fd);
    options.script = path;
    bench_open(bench, &options);
    unlink(path);
}

static enum start_result start(struct bench *bench, int64_t attempt)
{
    struct attempt_spec spec = bench_spec(bench, attempt);
    static char metrics[] = "SMTUNE_METRICS=/dev/null";
    static char *const envp[] = {metrics, NULL};

    spec.envp = envp;
    spec.cpus = 1;
    spec.grace_ms = 30;
    return bench_start(bench, &spec, NULL);
}

static void test_fake__without_a_script_all_ends_well(void **state)
{
    const struct executor_options options = {
        .name = "fake", .cpus = -1, .gpus = -1, .parallel = 2};
    struct bench bench;
    char *log;

    (void)state;
    bench_open(&bench, &options);
    for (int i = 1; i <= 5; i++)
        assert_int_equal(start(&bench, i), START_OK);
    assert_int_equal(bench.end_count, 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 5);
    assert_int_equal(bench.start_count, 5);
    assert_int_equal(bench_end_of(&bench, 3)->cause, CAUSE_OK);
    assert_int_equal(bench_end_of(&bench, 3)->exit_code, 0);
    assert_int_equal(bench.running_max, 2);
    log = bench_read(&bench, 3, "log");
    assert_string_equal(log, "loss=3\n");
    free(log);
    assert_true(bench_has(&bench, 3, "claim"));
    assert_true(bench_has(&bench, 3, "exit"));
    assert_int_equal(executor_gpus(bench.executor), 0);
    bench_close(&bench);
}

static void test_fake__waits_in_a_queue_and_tells_of_nodes(void **state)
{
    struct bench bench;

    (void)state;
    open_fake(&bench,
              "{\"queued_ms\": 20, \"node\": \"n7\", \"note\": \"by job\","
              " \"cause\": \"node_fail\", \"displaced\": true,"
              " \"trouble\": \"unhealthy\"}\n",
              1, 8);
    start(&bench, 4);
    BENCH_RUN_UNTIL(&bench, bench.queue_count == 1);
    assert_string_equal(bench.handle, "FAKE-4");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.start_count, 1);
    assert_string_equal(bench.note, "by job");
    assert_int_equal(bench.node_count, 1);
    assert_int_equal(bench.trouble, NODE_UNHEALTHY);
    assert_string_equal(bench.node, "n7");
    assert_string_equal(bench_end_of(&bench, 4)->node, "n7");
    assert_true(bench_end_of(&bench, 4)->is_displaced);
    bench_close(&bench);
}

static void test_fake__follows_its_script(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;
    char *log;

    (void)state;
    open_fake(&bench,
              "# how it goes\n"
              "{\"cause\": \"exit\", \"exit_code\": 75, \"log\": \"a\\nb\"}\n"
              "\n"
              "{\"attempt\": 9, \"cause\": \"signal\", \"signal\": 11}\n"
              "{\"cause\": \"oom\", \"duration_ms\": 40, \"cpu_ms\": 5,"
              " \"max_rss_bytes\": 77}\n",
              3, 8);
    start(&bench, 1);
    start(&bench, 9);
    start(&bench, 2);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 3);
    end = bench_end_of(&bench, 1);
    assert_int_equal(end->cause, CAUSE_EXIT);
    assert_int_equal(end->exit_code, 75);
    log = bench_read(&bench, 1, "log");
    assert_string_equal(log, "a\nb");
    free(log);
    end = bench_end_of(&bench, 9);
    assert_int_equal(end->cause, CAUSE_SIGNAL);
    assert_int_equal(end->signal, 11);
    end = bench_end_of(&bench, 2);
    assert_int_equal(end->cause, CAUSE_OOM);
    assert_int_equal(end->cpu_ms, 5);
    assert_int_equal(end->max_rss_bytes, 77);
    /* of 40: a timer counts from the turn before, which may be late */
    assert_in_range(end->ended_ms - end->started_ms, 20, INT32_MAX);
    bench_close(&bench);
}

static void test_fake__lines_may_be_for_a_command(void **state)
{
    char train[] = "train", fold[] = "--fold", one[] = "1", two[] = "2";
    char both[] = "--fold 2";
    const struct {
        char *argv[4];
        int exit_code;
    } cases[] = {
        {{train, fold, one}, 0}, {{train, fold}, 6}, {{train, fold, two}, 3},
        {{train, fold, two}, 4}, {{train, both}, 5}, {{train}, 0},
        {{train, fold, two}, 0},
    };
    struct bench bench;
    struct attempt_spec spec;

    (void)state;
    open_fake(&bench,
              "{\"command\": \"train --fold 2\", \"exit_code\": 3}\n"
              "{\"command\": \"train --fold\", \"exit_code\": 6}\n"
              "{\"command\": \"train --fold 2\", \"exit_code\": 4}\n"
              "{\"command\": \"train --fold 2\", \"exit_code\": 5}\n",
              8, 8);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        spec = bench_spec(&bench, (int64_t)i + 1);
        spec.argv = cases[i].argv;
        bench_start(&bench, &spec, NULL);
    }
    BENCH_RUN_UNTIL(&bench, bench.end_count == ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(bench_end_of(&bench, (int64_t)i + 1)->exit_code,
                         cases[i].exit_code);
    bench_close(&bench);
}

static void check_text(struct bench *bench, const char *file, const char *text)
{
    char *found = bench_read(bench, 1, file);

    assert_string_equal(found, text);
    free(found);
}

static void test_fake__writes_what_it_reports_where_it_is_told(void **state)
{
    struct bench bench;
    struct attempt_spec spec;
    char *envp[] = {NULL, NULL, NULL};

    (void)state;
    open_fake(&bench,
              "{\"metrics\": \"{\\\"loss\\\": 0.5}\\n\","
              " \"output\": \"rows=7\\n\"}\n",
              1, 8);
    envp[0] = mem_printf("SMTUNE_METRICS=%s/metrics", bench.root);
    envp[1] = mem_printf("SMTUNE_OUTPUTS=%s/output", bench.root);
    spec = bench_spec(&bench, 1);
    spec.envp = envp;
    bench_start(&bench, &spec, NULL);
    free(envp[0]);
    free(envp[1]);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    check_text(&bench, "../metrics", "{\"loss\": 0.5}\n");
    check_text(&bench, "../output", "rows=7\n");
    bench_close(&bench);
}

static void test_fake__can_refuse(void **state)
{
    struct bench bench;

    (void)state;
    open_fake(&bench,
              "{\"start\": \"full\", \"duration_ms\": 5}\n"
              "{\"start\": \"error\", \"text\": \"no luck\"}\n",
              1, 8);
    assert_int_equal(start(&bench, 1), START_FULL);
    assert_int_equal(bench.room_count, 0);
    BENCH_RUN_UNTIL(&bench, bench.room_count == 1);
    assert_int_equal(start(&bench, 1), START_ERROR);
    assert_int_equal(start(&bench, 1), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    bench_close(&bench);
}

static void test_fake__is_full_when_its_cpus_are_used(void **state)
{
    struct bench bench;

    (void)state;
    open_fake(&bench, "", 8, 2);
    assert_int_equal(start(&bench, 1), START_OK);
    assert_int_equal(start(&bench, 2), START_OK);
    assert_int_equal(start(&bench, 3), START_FULL);
    BENCH_RUN_UNTIL(&bench, bench.room_count == 1);
    assert_int_equal(start(&bench, 3), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 3);
    bench_close(&bench);
}

static enum start_result start_in_pool(struct bench *bench, int64_t attempt)
{
    struct attempt_spec spec = bench_spec(bench, attempt);
    char *directory = mem_printf("%s/pool", getenv("SMTUNE_TEST_ROOT"));
    const struct attempt_pool pool = {directory, 1, 1};
    enum start_result result;

    spec.pools = &pool;
    spec.pool_count = 1;
    result = bench_start(bench, &spec, NULL);
    free(directory);
    return result;
}

static void test_fake__shares_pools_with_other_engines(void **state)
{
    static const char script[] = "{\"duration_ms\": 1000000}\n";
    struct bench ours, theirs;

    (void)state;
    open_fake(&ours, script, 8, 8);
    open_fake(&theirs, "", 8, 8);
    assert_int_equal(start_in_pool(&ours, 1), START_OK);
    assert_int_equal(start_in_pool(&ours, 2), START_FULL);
    assert_int_equal(ours.lacks, LACKS_POOL);
    assert_int_equal(start_in_pool(&theirs, 1), START_FULL);
    assert_int_equal(start(&theirs, 2), START_OK);
    BENCH_RUN_UNTIL(&theirs, theirs.end_count == 1 && theirs.room_count > 1);
    assert_int_equal(start_in_pool(&theirs, 1), START_FULL);
    executor_cancel(ours.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&ours, ours.end_count == 1 && ours.room_count > 0);
    assert_int_equal(start_in_pool(&ours, 2), START_FULL); /* not its turn */
    bench_close(&ours);
    assert_int_equal(start_in_pool(&theirs, 1), START_OK);
    BENCH_RUN_UNTIL(&theirs, theirs.end_count == 2);
    bench_close(&theirs);
}

static void test_fake__keeps_to_its_time_limit(void **state)
{
    struct bench bench;
    struct attempt_spec spec;
    const struct attempt_exit *end;
    char *checkpoint, *variable;
    char *envp[] = {NULL, NULL};

    (void)state;
    open_fake(&bench,
              "{\"duration_ms\": 1000000, \"checkpoint\": \"a\"}\n"
              "{\"duration_ms\": 1000000, \"warned_exit\": 75,"
              " \"checkpoint\": \"b\"}\n",
              2, 8);
    variable = mem_printf("SMTUNE_CHECKPOINT_DIR=%s", bench.root);
    envp[0] = variable;
    for (int i = 1; i <= 2; i++) {
        spec = bench_spec(&bench, i);
        spec.envp = envp;
        spec.time_ms = 60;
        spec.warn_signal = SIGUSR2;
        spec.warn_before_ms = 40;
        bench_start(&bench, &spec, NULL);
        BENCH_RUN_UNTIL(&bench, bench.end_count == (size_t)i);
        checkpoint = bench_read(&bench, i, "../state");
        assert_string_equal(checkpoint, i == 1 ? "a" : "b");
        free(checkpoint);
    }
    free(variable);
    end = bench_end_of(&bench, 1);
    assert_int_equal(end->cause, CAUSE_TIMEOUT);
    assert_int_equal(end->signal, SIGTERM);
    assert_true(end->ended_ms - end->started_ms >= 59);
    end = bench_end_of(&bench, 2);
    assert_int_equal(end->cause, CAUSE_EXIT);
    assert_int_equal(end->exit_code, 75);
    bench_close(&bench);
}

static void test_fake__can_fail_to_launch_and_lose(void **state)
{
    struct bench bench;

    (void)state;
    open_fake(&bench,
              "{\"cause\": \"launch_error\", \"text\": \"no such\"}\n"
              "{\"cause\": \"lost\"}\n",
              1, 8);
    start(&bench, 1);
    start(&bench, 2);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench.start_count, 1);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_LAUNCH_ERROR);
    assert_string_equal(bench_end_of(&bench, 1)->text, "no such");
    assert_int_equal(bench_end_of(&bench, 2)->cause, CAUSE_LOST);
    assert_false(bench_has(&bench, 2, "exit"));
    bench_close(&bench);
}

static void test_fake__cancels(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_fake(&bench,
              "{\"duration_ms\": 1000000}\n"
              "{\"duration_ms\": 1000000, \"ignore_term\": true}\n"
              "{\"duration_ms\": 1000000, \"ignore_term\": true}\n",
              3, 8);
    for (int i = 1; i <= 4; i++)
        start(&bench, i);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 3);
    executor_cancel(bench.executor, 4, CANCEL_TERM);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    executor_cancel(bench.executor, 2, CANCEL_TERM);
    executor_cancel(bench.executor, 3, CANCEL_KILL);
    executor_cancel(bench.executor, 99, CANCEL_KILL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 4);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(bench_end_of(&bench, i)->cause, CAUSE_CANCELLED);
    assert_int_equal(bench_end_of(&bench, 1)->signal, SIGTERM);
    end = bench_end_of(&bench, 2);
    assert_int_equal(end->signal, SIGKILL);
    assert_true(end->ended_ms - end->started_ms >= 29);
    assert_int_equal(bench_end_of(&bench, 3)->signal, SIGKILL);
    assert_int_equal(bench_end_of(&bench, 4)->signal, 0);
    assert_false(bench_has(&bench, 4, "claim"));
    bench_close(&bench);
}

static void test_fake__reattaches(void **state)
{
    const struct executor_options options = {
        .name = "fake", .cpus = 8, .gpus = 0, .parallel = 2};
    struct bench bench;

    (void)state;
    open_fake(&bench,
              "{\"cause\": \"exit\"}\n"
              "{\"duration_ms\": 1000000}\n",
              2, 8);
    start(&bench, 1);
    start(&bench, 2);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1 && bench.start_count == 2);
    bench_disconnect(&bench);
    bench.end_count = 0;
    bench_connect(&bench, &options);
    for (int i = 1; i <= 3; i++) {
        struct attempt_spec spec = bench_spec(&bench, i);

        assert_int_equal(bench_reattach(&bench, &spec, NULL), i == 3 ? 1 : 0);
    }
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_EXIT);
    assert_int_equal(bench_end_of(&bench, 2)->cause, CAUSE_LOST);
    bench_close(&bench);
}

static void test_fake__tells_that_a_directory_is_taken(void **state)
{
    struct bench bench;

    (void)state;
    open_fake(&bench, "", 1, 8);
    start(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    bench.end_count = bench.start_count = 0;
    start(&bench, 1);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LAUNCH_ERROR);
    assert_int_equal(bench.start_count, 0);
    bench_close(&bench);
}

static void test_script__errors_name_the_line(void **state)
{
    static const struct {
        const char *script;
        const char *error;
    } cases[] = {
        {"{}\n{\"cause\": \"fine\"}\n", ":2: bad value of 'cause'"},
        {"{\"duration_ms\": -1}", ":1: bad value of 'duration_ms'"},
        {"{\"start\": \"maybe\"}", ":1: bad value of 'start'"},
        {"{\"exit_code\": \"3\"}", ":1: bad value of 'exit_code'"},
        {"{\"colour\": 3}", ":1: unknown key 'colour' in an outcome"},
        {"[]", ":1: type mismatch: an outcome must be a JSON object"},
        {"\n\n{\"cause\": ", ":3: "},
    };
    struct fake_script script;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[] = "/tmp/smtune-test-XXXXXX";
        int fd = mkstemp(path);
        ssize_t length = (ssize_t)strlen(cases[i].script);

        assert_int_equal(write(fd, cases[i].script, (size_t)length), length);
        close(fd);
        assert_int_equal(fake_script_load(&script, path, &err), -1);
        assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
        if (strncmp(err.text + strlen(path), cases[i].error,
                    strlen(cases[i].error)) != 0)
            assert_string_equal(err.text + strlen(path), cases[i].error);
        unlink(path);
    }
    assert_int_equal(fake_script_load(&script, "/no/such", &err), -1);
    assert_non_null(strstr(err.text, "/no/such"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fake__without_a_script_all_ends_well),
        cmocka_unit_test(test_fake__waits_in_a_queue_and_tells_of_nodes),
        cmocka_unit_test(test_fake__follows_its_script),
        cmocka_unit_test(test_fake__lines_may_be_for_a_command),
        cmocka_unit_test(test_fake__writes_what_it_reports_where_it_is_told),
        cmocka_unit_test(test_fake__can_refuse),
        cmocka_unit_test(test_fake__is_full_when_its_cpus_are_used),
        cmocka_unit_test(test_fake__shares_pools_with_other_engines),
        cmocka_unit_test(test_fake__keeps_to_its_time_limit),
        cmocka_unit_test(test_fake__can_fail_to_launch_and_lose),
        cmocka_unit_test(test_fake__cancels),
        cmocka_unit_test(test_fake__reattaches),
        cmocka_unit_test(test_fake__tells_that_a_directory_is_taken),
        cmocka_unit_test(test_script__errors_name_the_line),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
