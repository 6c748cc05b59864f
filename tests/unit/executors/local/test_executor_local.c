/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/executor_test.h"

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

static void test_local__log_keeps_every_byte(void **state)
{
    struct bench bench;
    struct buf log = BUF_INIT;
    char *path;

    (void)state;
    open_local(&bench);
    assert_int_equal(
        run_shell(&bench,
                  "printf '\\0\\377\\r\\n\\0'; head -c 3000000 /dev/zero", NULL)
            ->cause,
        CAUSE_OK);
    path = bench_path(&bench, 1, "log");
    assert_int_equal(fs_read(path, 10 << 20, &log, NULL), 0);
    assert_int_equal(log.length, 3000005);
    assert_memory_equal(log.data, "\0\377\r\n\0", 5);
    buf_clear(&log);
    free(path);
    bench_close(&bench);
}

/* -- What a command finds -------------------------------------------------*/

static void set_environment(struct attempt_spec *spec)
{
    static char path[] = "PATH=/usr/bin:/bin", word[] = "WORD=a b\nc";
    static char *const envp[] = {path, word, NULL};

    spec->envp = envp;
    spec->work_directory = "/usr";
}

static void test_local__command_has_its_environment_alone(void **state)
{
    struct bench bench;
    char *log, *expected;

    (void)state;
    open_local(&bench);
    run_shell(&bench,
              "printf '%s|' \"$WORD\" \"$PWD\" \"$SMTUNE_CLAIM\"; cat;"
              "env | cut -d= -f1 | grep -v -e PWD -e _ | sort | tr '\\n' ' '",
              set_environment);
    log = bench_read(&bench, 1, "log");
    expected = mem_printf("a b\nc|/usr|%s/1/claim|PATH WORD c ", bench.root);
    assert_string_equal(log, expected);
    free(log);
    free(expected);
    bench_close(&bench);
}

/* Default signals, nothing blocked, a session of its own, and no file but
 * stdin, stdout, stderr and the claim, out of the way at 50. The shell itself
 * reads its signals: a shell that vforks blocks them while it starts another
 * program, which may look before they are free again. */
static void test_local__command_starts_clean(void **state)
{
    struct bench bench;
    char *log;

    (void)state;
    open_local(&bench);
    run_shell(&bench,
              "while read -r key value; do case $key in SigBlk: | SigIgn:)"
              " echo $value ;; esac; done </proc/$$/status;"
              "cut -d' ' -f5,6 /proc/$$/stat | sed s/$$/own/g;"
              "readlink /proc/$$/fd/0; ls /proc/$$/fd",
              NULL);
    log = bench_read(&bench, 1, "log");
    assert_string_equal(log, "0000000000000000\n0000000000000000\nown own\n"
                             "/dev/null\n0\n1\n2\n50\n");
    free(log);
    bench_close(&bench);
}

static void test_local__claim_names_the_command(void **state)
{
    struct bench bench;
    char *log, *claim, *expected;

    (void)state;
    open_local(&bench);
    run_shell(&bench, "echo $$; cut -d' ' -f22 /proc/$$/stat", NULL);
    log = bench_read(&bench, 1, "log");
    claim = bench_read(&bench, 1, "claim");
    expected = mem_printf("\"pid\": %d, \"pid_start\": %s", (int)bench.pids[0],
                          strchr(log, '\n') + 1);
    expected[strlen(expected) - 1] = '\0';
    assert_int_equal(strtol(log, NULL, 10), bench.pids[0]);
    assert_non_null(strstr(claim, expected));
    free(log);
    free(claim);
    free(expected);
    bench_close(&bench);
}

/* -- Ending ---------------------------------------------------------------*/

static void test_local__cancel_terminates(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    bench.cancel_when_started = 1;
    bench.cancel_mode = CANCEL_TERM;
    end = run_shell(&bench, "exec sleep 1000", NULL);
    assert_int_equal(end->cause, CAUSE_CANCELLED);
    assert_int_equal(end->signal, SIGTERM);
    bench_close(&bench);
}

static void short_grace(struct attempt_spec *spec)
{
    spec->grace_ms = 100;
}

static void test_local__cancel_kills_what_ignores_it(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    start_shell(&bench, 1, STUBBORN, short_grace);
    bench_await_word(&bench, 1, "up");
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    end = bench_end_of(&bench, 1);
    assert_int_equal(end->cause, CAUSE_CANCELLED);
    assert_int_equal(end->signal, SIGKILL);
    assert_true(end->ended_ms - end->started_ms >= 100);
    bench_close(&bench);
}

static void test_local__cancel_can_kill_at_once(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    start_shell(&bench, 1, STUBBORN, NULL);
    bench_await_word(&bench, 1, "up");
    executor_cancel(bench.executor, 1, CANCEL_KILL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    end = bench_end_of(&bench, 1);
    assert_int_equal(end->cause, CAUSE_CANCELLED);
    assert_int_equal(end->signal, SIGKILL);
    assert_true(end->ended_ms - end->started_ms < 5000);
    bench_close(&bench);
}

static void test_local__cancel_wakes_what_is_stopped(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    assert_int_equal(start_shell(&bench, 1,
                                 "trap 'exit 9' TERM; echo up; kill -STOP $$",
                                 NULL),
                     START_OK);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 1);
    for (bool stopped = false; !stopped;) {
        char *status = mem_printf("/proc/%d/status", (int)bench.pids[0]);
        struct buf text = BUF_INIT;

        fs_read(status, 1 << 16, &text, NULL);
        stopped = strstr(buf_text(&text), "T (stopped)") != NULL;
        buf_clear(&text);
        free(status);
    }
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    end = bench_end_of(&bench, 1);
    assert_int_equal(end->cause, CAUSE_CANCELLED);
    assert_int_equal(end->exit_code, 9);
    bench_close(&bench);
}

static void test_local__cancel_of_what_is_unknown_is_nothing(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    executor_cancel(bench.executor, 99, CANCEL_KILL);
    assert_int_equal(run_shell(&bench, "exit 0", NULL)->cause, CAUSE_OK);
    executor_cancel(bench.executor, 1, CANCEL_KILL);
    assert_int_equal(run_shell(&bench, "exit 0", NULL)->cause, CAUSE_OK);
    bench_close(&bench);
}

static void limit_time(struct attempt_spec *spec)
{
    spec->time_ms = 300;
    spec->grace_ms = 100;
}

static void test_local__time_limit(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    end = run_shell(&bench, "exec sleep 1000", limit_time);
    assert_int_equal(end->cause, CAUSE_TIMEOUT);
    assert_int_equal(end->signal, SIGTERM);
    assert_true(end->ended_ms - end->started_ms >= 299);
    end = run_shell(&bench, STUBBORN, limit_time);
    assert_int_equal(end->cause, CAUSE_TIMEOUT);
    assert_int_equal(end->signal, SIGKILL);
    end =
        run_shell(&bench, "trap 'exit 0' TERM; sleep 1000 & wait", limit_time);
    assert_int_equal(end->cause, CAUSE_TIMEOUT);
    assert_int_equal(end->exit_code, 0);
    assert_int_equal(run_shell(&bench, "exit 3", limit_time)->cause,
                     CAUSE_EXIT);
    bench_close(&bench);
}

static void warn_before_time(struct attempt_spec *spec)
{
    spec->time_ms = 600;
    spec->grace_ms = 100;
    spec->warn_signal = SIGUSR2;
    spec->warn_before_ms = 400;
}

static void test_local__warning_before_the_time_limit(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    end = run_shell(&bench, "trap 'exit 75' USR2; while :; do sleep 0.01; done",
                    warn_before_time);
    assert_int_equal(end->cause, CAUSE_EXIT);
    assert_int_equal(end->exit_code, 75);
    assert_in_range(end->ended_ms - end->started_ms, 199, 599);
    bench_close(&bench);
}

/* The shell in front, which would die of the signal, gets none; nor does what
 * handles none at all. */
static void test_local__warning_reaches_those_that_heed_it(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    end = run_shell(
        &bench,
        "sh -c 'trap \"exit 75\" USR2; while :; do sleep 0.01; done'; exit $?",
        warn_before_time);
    assert_int_equal(end->cause, CAUSE_EXIT);
    assert_int_equal(end->exit_code, 75);
    end = run_shell(&bench, "exec sleep 1000", warn_before_time);
    assert_int_equal(end->cause, CAUSE_TIMEOUT);
    assert_true(end->ended_ms - end->started_ms >= 599);
    bench_close(&bench);
}

static void limit_memory(struct attempt_spec *spec)
{
    spec->memory_bytes = INT64_C(64) << 20;
}

static void test_local__memory_limit(void **state)
{
    struct bench bench;
    const struct attempt_exit *end;

    (void)state;
    open_local(&bench);
    end = run_shell(&bench,
                    "(head -c 300000000 /dev/zero; sleep 1000) | tail -n 1",
                    limit_memory);
    assert_int_equal(end->cause, CAUSE_OOM);
    assert_int_equal(end->signal, SIGKILL);
    assert_true(end->max_rss_bytes >= INT64_C(64) << 20);
    end = run_shell(&bench, "head -c 10000000 /dev/zero | tail -n 1 | wc -c",
                    limit_memory);
    assert_int_equal(end->cause, CAUSE_OK);
    bench_close(&bench);
}

static void test_local__counts_the_time_of_the_whole_tree(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_true(run_shell(&bench,
                          "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done)",
                          NULL)
                    ->cpu_ms >= 20);
    bench_close(&bench);
}

/* -- Leftovers ------------------------------------------------------------*/

/* A process in the background that notes its pid, and how it hides. */
static void check_leftover(const char *prefix)
{
    struct bench bench;
    struct process process;
    char *script = mem_printf("%s sh -c 'trap \"\" TERM; echo $$ >pid.tmp; "
                              "mv pid.tmp pid; exec sleep 1000' &"
                              "until [ -e pid ]; do :; done",
                              prefix);
    char *path;
    struct buf text = BUF_INIT;

    open_local(&bench);
    assert_int_equal(run_shell(&bench, script, NULL)->cause, CAUSE_OK);
    path = fs_join(bench.root, "pid");
    assert_int_equal(fs_read(path, 100, &text, NULL), 0);
    assert_false(
        process_read((pid_t)strtol(buf_text(&text), NULL, 10), &process) &&
        !process.is_zombie);
    buf_clear(&text);
    free(path);
    free(script);
    bench_close(&bench);
}

static void test_leftover__in_the_group_is_ended(void **state)
{
    (void)state;
    check_leftover("");
}

static void test_leftover__in_its_own_session_is_ended(void **state)
{
    (void)state;
    check_leftover("setsid");
}

static void test_leftover__double_forked_is_ended(void **state)
{
    (void)state;
    check_leftover("setsid -f");
}

static void test_leftover__with_no_environment_is_ended(void **state)
{
    (void)state;
    check_leftover("setsid -f env -i");
}

/* It holds neither the lock nor anything else that shows at once: it may live
 * on for a moment, but not when the agent is idle. */
static void test_leftover__that_closed_its_files_is_ended(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(run_shell(&bench,
                                   "setsid -f python3 -c 'import os, time\n"
                                   "os.closerange(0, 1000)\n"
                                   "open(\"hidden\", \"a\").close()\n"
                                   "time.sleep(1000)'\n"
                                   "until [ -e hidden ]; do :; done; rm hidden",
                                   NULL)
                             ->cause,
                         CAUSE_OK);
    }
    bench_close(&bench);
}

/* Each finds what others left: to look at all processes for each of them would
 * take minutes. */
static void test_leftover__of_hundreds_is_ended_at_once(void **state)
{
    enum { HUNDREDS = 400 };
    static const struct executor_options options = {.name = "local",
                                                    .cpus = 2,
                                                    .gpus = 0,
                                                    .parallel = HUNDREDS,
                                                    .without_cgroups = true};
    struct bench bench;

    (void)state;
    bench_open(&bench, &options);
    for (size_t i = 1; i <= HUNDREDS; i++) {
        assert_int_equal(start_shell(&bench, (int64_t)i, "sleep 1000; :", NULL),
                         START_OK);
        BENCH_RUN_UNTIL(&bench, bench.start_count == i);
    }
    for (int64_t i = 1; i <= HUNDREDS; i++)
        executor_cancel(bench.executor, i, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == HUNDREDS);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local__tells_start_and_end),
        cmocka_unit_test(test_local__tells_exit_codes_and_signals),
        cmocka_unit_test(test_local__log_keeps_every_byte),
        cmocka_unit_test(test_local__command_has_its_environment_alone),
        cmocka_unit_test(test_local__command_starts_clean),
        cmocka_unit_test(test_local__claim_names_the_command),
        cmocka_unit_test(test_local__cancel_terminates),
        cmocka_unit_test(test_local__cancel_kills_what_ignores_it),
        cmocka_unit_test(test_local__cancel_can_kill_at_once),
        cmocka_unit_test(test_local__cancel_wakes_what_is_stopped),
        cmocka_unit_test(test_local__cancel_of_what_is_unknown_is_nothing),
        cmocka_unit_test(test_local__time_limit),
        cmocka_unit_test(test_local__warning_before_the_time_limit),
        cmocka_unit_test(test_local__warning_reaches_those_that_heed_it),
        cmocka_unit_test(test_local__memory_limit),
        cmocka_unit_test(test_local__counts_the_time_of_the_whole_tree),
        cmocka_unit_test(test_leftover__in_the_group_is_ended),
        cmocka_unit_test(test_leftover__in_its_own_session_is_ended),
        cmocka_unit_test(test_leftover__double_forked_is_ended),
        cmocka_unit_test(test_leftover__with_no_environment_is_ended),
        cmocka_unit_test(test_leftover__that_closed_its_files_is_ended),
        cmocka_unit_test(test_leftover__of_hundreds_is_ended_at_once),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
