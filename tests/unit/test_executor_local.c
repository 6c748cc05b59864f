/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executor_test.h"

static const struct executor_options two_at_once = {
    .name = "local", .cpus = 2, .gpus = 0, .parallel = 2};

static void open_local(struct bench *bench)
{
    bench_open(bench, &two_at_once);
}

static enum start_result start_shell(struct bench *bench, int64_t attempt,
                                     const char *script,
                                     void (*adjust)(struct attempt_spec *))
{
    char *text = mem_copy_string(script);
    static char sh[] = "/bin/sh", option[] = "-c";
    char *argv[] = {sh, option, text, NULL};
    struct attempt_spec spec = bench_spec(bench, attempt);
    enum start_result result;

    spec.argv = argv;
    if (adjust != NULL)
        adjust(&spec);
    result = bench_start(bench, &spec, NULL);
    free(text);
    return result;
}

/* Runs a script to its end. */
static const struct attempt_exit *run_shell(
    struct bench *bench, const char *script,
    void (*adjust)(struct attempt_spec *))
{
    int64_t attempt = (int64_t)bench->end_count + 1;
    size_t ended = bench->end_count;

    assert_int_equal(start_shell(bench, attempt, script, adjust), START_OK);
    BENCH_RUN_UNTIL(bench, bench->end_count > ended);
    return bench_end_of(bench, attempt);
}

static void test_local__tells_start_and_end(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;
    char *log;

    (void)state;
    open_local(&bench);
    end = run_shell(&bench, "echo out; echo err >&2", NULL);
    assert_int_equal(bench.start_count, 1);
    assert_true(bench.pids[0] > 0);
    assert_int_equal(end->cause, CAUSE_OK);
    assert_int_equal(end->exit_code, 0);
    assert_int_equal(end->signal, 0);
    assert_true(end->ended_ms >= end->started_ms);
    assert_true(end->max_rss_bytes > 100000);
    log = bench_read(&bench, 1, "log");
    assert_string_equal(log, "out\nerr\n");
    free(log);
    assert_true(bench_has(&bench, 1, "claim"));
    assert_true(bench_has(&bench, 1, "exit"));
    bench_close(&bench);
}

static void test_local__tells_exit_codes_and_signals(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    end = run_shell(&bench, "exit 75", NULL);
    assert_int_equal(end->cause, CAUSE_EXIT);
    assert_int_equal(end->exit_code, 75);
    end = run_shell(&bench, "kill -SEGV $$", NULL);
    assert_int_equal(end->cause, CAUSE_SIGNAL);
    assert_int_equal(end->signal, SIGSEGV);
    assert_int_equal(end->exit_code, -1);
    bench_close(&bench);
}

static void test_local__cancel_terminates(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    bench.cancel_when_started = 1;
    end = run_shell(&bench, "exec sleep 1000", NULL);
    assert_int_equal(end->cause, CAUSE_CANCELLED);
    assert_int_equal(end->signal, SIGTERM);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local__tells_start_and_end),
        cmocka_unit_test(test_local__tells_exit_codes_and_signals),
        cmocka_unit_test(test_local__cancel_terminates),
    };

    use_built_shim();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
