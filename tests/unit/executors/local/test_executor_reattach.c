/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/executor_test.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "executors/attempt/attempt_file.h"
#include "executors/local/adopted.h"

/* What an engine finds of the attempts of one that died before it. */

/* Waits for a file named `go` in the root, then exits with 7; waits no longer
 * than the tests run. */
#define WAIT_AND_EXIT                                                          \
    "echo up; while ! [ -e go ] && kill -0 $SMTUNE_TEST_PID; do sleep 0.01; "  \
    "done; exit 7"

static void short_grace(struct attempt_spec *spec)
{
    spec->grace_ms = 200;
}

static void start_patient(struct bench *bench, int64_t attempt,
                          const char *script)
{
    assert_int_equal(start_shell(bench, attempt, script, short_grace),
                     START_OK);
}

static void touch(struct bench *bench, const char *name)
{
    char *path = fs_join(bench->root, name);

    assert_int_equal(fs_write_atomic(path, "", 0, 0600, NULL), 0);
    free(path);
}

static int reattach(struct bench *bench, int64_t attempt, struct err *err)
{
    struct attempt_spec spec = bench_spec(bench, attempt);

    spec.grace_ms = 200;
    return bench_reattach(bench, &spec, err);
}

/* The processes of an attempt: of the command, and of its shim. */
static struct claim read_claim(struct bench *bench, int64_t attempt)
{
    char *directory = bench_path(bench, attempt, NULL);
    struct claim claim;

    assert_in_range(claim_judge(directory, attempt, &claim, NULL), CLAIM_VOID,
                    CLAIM_FREE);
    free(directory);
    return claim;
}

static void write_claim(struct bench *bench, int64_t attempt,
                        const struct claim *claim)
{
    char *directory = bench_path(bench, attempt, NULL);
    char *path = bench_path(bench, attempt, "claim");
    char line[CLAIM_LINE_MAX];
    size_t length = claim_format(claim, line);

    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(fs_write_atomic(path, line, length, 0600, NULL), 0);
    free(directory);
    free(path);
}

static struct claim dead_claim(int64_t attempt)
{
    struct claim claim = {.attempt = attempt,
                          .pid = 1,
                          .pid_start = UINT64_C(1) << 50,
                          .shim_pid = 1,
                          .shim_start = UINT64_C(1) << 50,
                          .time_ms = 1234};

    claim_identify(&claim);
    return claim;
}

static void test_reattach__tells_an_end_that_nobody_saw(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    start_patient(&bench, 1, "exit 7");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    bench_disconnect(&bench);
    bench.end_count = 0;
    bench_connect(&bench, &two_at_once);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].attempt, 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_EXIT);
    assert_int_equal(bench.ends[0].exit_code, 7);
    bench_close(&bench);
}

static void test_reattach__what_never_started_never_will(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    assert_int_equal(reattach(&bench, 1, NULL), 1);
    assert_int_equal(reattach(&bench, 1, NULL), 1);
    start_patient(&bench, 1, "exit 0");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LAUNCH_ERROR);
    assert_int_equal(bench.start_count, 0);
    bench_close(&bench);
}

static void test_reattach__an_attempt_that_runs_is_adopted(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    start_patient(&bench, 1, WAIT_AND_EXIT);
    bench_await_word(&bench, 1, "up");
    bench_disconnect(&bench);
    bench_connect(&bench, &two_at_once);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    start_patient(&bench, 2, "exit 0");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].attempt, 2);
    touch(&bench, "go");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench.ends[1].cause, CAUSE_EXIT);
    assert_int_equal(bench.ends[1].exit_code, 7);
    bench_close(&bench);
}

static void test_reattach__an_adopted_attempt_can_be_cancelled(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    start_patient(&bench, 1, WAIT_AND_EXIT);
    start_patient(&bench, 2, "trap '' TERM; " WAIT_AND_EXIT);
    bench_await_word(&bench, 1, "up");
    bench_await_word(&bench, 2, "up");
    bench_disconnect(&bench);
    bench_connect(&bench, &two_at_once);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    assert_int_equal(reattach(&bench, 2, NULL), 0);
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    executor_cancel(bench.executor, 2, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_CANCELLED);
    assert_int_equal(bench_end_of(&bench, 1)->signal, SIGTERM);
    assert_int_equal(bench_end_of(&bench, 2)->cause, CAUSE_CANCELLED);
    assert_int_equal(bench_end_of(&bench, 2)->signal, SIGKILL);
    bench_close(&bench);
}

static void test_reattach__an_adopted_attempt_can_be_killed(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    start_patient(&bench, 1, "trap '' TERM; " WAIT_AND_EXIT);
    bench_await_word(&bench, 1, "up");
    bench_disconnect(&bench);
    bench_connect(&bench, &two_at_once);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    executor_cancel(bench.executor, 1, CANCEL_KILL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_CANCELLED);
    assert_int_equal(bench_end_of(&bench, 1)->signal, SIGKILL);
    bench_close(&bench);
}

static void test_reattach__what_is_gone_without_a_word_is_lost(void **state)
{
    struct bench bench;
    struct claim claim = dead_claim(1);

    (void)state;
    bench_open(&bench, &two_at_once);
    write_claim(&bench, 1, &claim);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    assert_int_equal(bench.ends[0].exit_code, -1);
    assert_int_equal(bench.ends[0].started_ms, 1234);
    assert_int_equal(bench.ends[0].ended_ms, 1234);
    bench_close(&bench);
}

/* Sets the time of the file, which gets a line before. */
static void write_back_then(struct bench *bench, const char *name,
                            int64_t time_s)
{
    const struct timespec times[2] = {{.tv_sec = time_s}, {.tv_sec = time_s}};
    char *path = bench_path(bench, 1, name);

    assert_int_equal(fs_write_atomic(path, "x\n", 2, 0600, NULL), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

/* An end that nobody saw was not when somebody came to look. */
static void test_reattach__what_is_lost_ended_after_its_last_word(void **state)
{
    struct bench bench;
    struct claim claim = dead_claim(1);

    (void)state;
    bench_open(&bench, &two_at_once);
    write_claim(&bench, 1, &claim);
    write_back_then(&bench, "log", 5000);
    write_back_then(&bench, "metrics.jsonl", 7000);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    assert_int_equal(bench.ends[0].ended_ms, 7000000);
    bench_close(&bench);
}

/* Its processes' numbers are living ones by chance: still, it is another
 * life of the machine. */
static void test_reattach__what_ran_before_a_reboot_is_lost(void **state)
{
    struct bench bench;
    struct claim claim = dead_claim(1);
    struct process self;

    (void)state;
    bench_open(&bench, &two_at_once);
    assert_true(process_read(getpid(), &self));
    claim.pid = claim.shim_pid = getpid();
    claim.pid_start = claim.shim_start = self.start;
    claim.boot_id[0] = claim.boot_id[0] == 'f' ? 'e' : 'f';
    write_claim(&bench, 1, &claim);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    bench_close(&bench);
}

/* Without a descriptor to look at its files, nothing is known of it. */
static void test_reattach__what_cannot_be_seen_is_not_lost(void **state)
{
    struct bench bench;
    struct claim claim = dead_claim(1);
    struct rlimit limit, none;
    struct err err;
    int64_t until_ms;

    (void)state;
    bench_open(&bench, &two_at_once);
    write_claim(&bench, 1, &claim);
    write_claim(&bench, 2, &claim);
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    assert_int_equal(reattach(&bench, 2, &err), -1);
    until_ms = clock_monotonic_ms() + INT64_C(3) * ADOPTED_POLL_MS;
    BENCH_RUN_UNTIL(&bench, clock_monotonic_ms() >= until_ms);
    assert_int_equal(bench.end_count, 0);
    setrlimit(RLIMIT_NOFILE, &limit);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    bench_close(&bench);
}

static void test_reattach__of_another_host_is_an_error(void **state)
{
    struct bench bench;
    struct claim claim = dead_claim(1);
    struct err err;

    (void)state;
    bench_open(&bench, &two_at_once);
    snprintf(claim.host, sizeof(claim.host), "elsewhere");
    write_claim(&bench, 1, &claim);
    assert_int_equal(reattach(&bench, 1, &err), -1);
    assert_non_null(strstr(err.text, "'elsewhere'"));
    bench_close(&bench);
}

/* -- The agent dies -------------------------------------------------------*/

static void test_agent__killed_loses_no_attempt(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, &two_at_once);
    for (int i = 1; i <= 4; i++)
        start_patient(&bench, i, WAIT_AND_EXIT);
    bench_await_word(&bench, 1, "up");
    bench_await_word(&bench, 2, "up");
    kill((pid_t)read_claim(&bench, 1).shim_pid, SIGKILL);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 4);
    touch(&bench, "go");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 4);
    assert_int_equal(bench_end_of(&bench, 1)->cause, CAUSE_LOST);
    assert_int_equal(bench_end_of(&bench, 2)->cause, CAUSE_LOST);
    assert_int_equal(bench_end_of(&bench, 3)->exit_code, 7);
    assert_int_equal(bench_end_of(&bench, 4)->exit_code, 7);
    assert_int_equal(bench.broken_count, 0);
    bench_close(&bench);
}

/* Also from an agent that is started when the engine has raised its limit. */
static void test_agent__gives_commands_the_limit_of_old(void **state)
{
    struct bench bench;
    struct rlimit old, low, high;
    char *log;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = high = old;
    low.rlim_cur = 77;
    high.rlim_cur = high.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    bench_open(&bench, &two_at_once);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &high), 0);
    start_patient(&bench, 1, "kill -KILL $PPID");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    start_patient(&bench, 2, "ulimit -S -n");
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    log = bench_read(&bench, 2, "log");
    assert_string_equal(log, "77\n");
    free(log);
    bench_close(&bench);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* With its command gone and no agent to end the rest, we do. */
static void test_agent__killed_leaves_no_process(void **state)
{
    struct bench bench;
    struct claim claim;

    (void)state;
    bench_open(&bench, &two_at_once);
    start_patient(&bench, 1, "setsid sleep 1000 & echo up; sleep 1000");
    bench_await_word(&bench, 1, "up");
    claim = read_claim(&bench, 1);
    kill((pid_t)claim.shim_pid, SIGKILL);
    kill((pid_t)claim.pid, SIGKILL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_LOST);
    bench_close(&bench);
}

static void test_agent__that_always_dies_is_told(void **state)
{
    struct bench bench;
    struct attempt_spec spec;
    static char program[] = "/bin/true";
    char *argv[] = {program, NULL};
    struct err err;

    (void)state;
    bench_open(&bench, &two_at_once);
    for (size_t i = 1; bench.broken_count == 0; i++) {
        start_patient(&bench, (int64_t)i, "kill -KILL $PPID");
        BENCH_RUN_UNTIL(&bench, bench.broken_count > 0 || bench.end_count == i);
        assert_true(i < 20);
    }
    spec = bench_spec(&bench, 99);
    spec.argv = argv;
    assert_int_equal(bench_start(&bench, &spec, &err), START_ERROR);
    bench_close(&bench);
}

/* -- The engine dies ------------------------------------------------------*/

/* An engine of its own process, which starts an attempt and one that must
 * wait, and says when the first is up. */
static void run_doomed_engine(struct bench *bench, int ready_fd)
{
    struct executor_options one = two_at_once;

    one.parallel = 1;
    uv_loop_init(&bench->loop);
    uv_timer_init(&bench->loop, &bench->watchdog);
    bench->watchdog.data = bench;
    bench_connect(bench, &one);
    start_patient(bench, 1, WAIT_AND_EXIT);
    start_patient(bench, 2, "exit 0");
    bench_await_word(bench, 1, "up");
    if (write(ready_fd, "x", 1) != 1)
        _exit(1);
    for (;;)
        uv_run(&bench->loop, UV_RUN_DEFAULT);
}

/* The second starts, or not, as the agent first sees the end of the first or
 * that of the engine. */
static void test_engine__killed_harms_no_attempt(void **state)
{
    struct bench bench;
    int second;
    int ends[2];
    pid_t pid;
    char ready;

    (void)state;
    bench_open(&bench, &two_at_once);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0)
        run_doomed_engine(&bench, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);

    assert_false(bench_has(&bench, 1, "exit"));
    touch(&bench, "go");
    bench_await_file(&bench, 1, "exit");
    assert_int_equal(reattach(&bench, 1, NULL), 0);
    second = reattach(&bench, 2, NULL);
    assert_in_range(second, 0, 1);
    BENCH_RUN_UNTIL(&bench, bench.end_count == (second == 0 ? 2 : 1));
    assert_int_equal(bench_end_of(&bench, 1)->exit_code, 7);
    if (second == 0)
        assert_int_equal(bench_end_of(&bench, 2)->exit_code, 0);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reattach__tells_an_end_that_nobody_saw),
        cmocka_unit_test(test_reattach__what_never_started_never_will),
        cmocka_unit_test(test_reattach__an_attempt_that_runs_is_adopted),
        cmocka_unit_test(test_reattach__an_adopted_attempt_can_be_cancelled),
        cmocka_unit_test(test_reattach__an_adopted_attempt_can_be_killed),
        cmocka_unit_test(test_reattach__what_is_gone_without_a_word_is_lost),
        cmocka_unit_test(test_reattach__what_is_lost_ended_after_its_last_word),
        cmocka_unit_test(test_reattach__what_ran_before_a_reboot_is_lost),
        cmocka_unit_test(test_reattach__what_cannot_be_seen_is_not_lost),
        cmocka_unit_test(test_reattach__of_another_host_is_an_error),
        cmocka_unit_test(test_agent__killed_loses_no_attempt),
        cmocka_unit_test(test_agent__gives_commands_the_limit_of_old),
        cmocka_unit_test(test_agent__killed_leaves_no_process),
        cmocka_unit_test(test_agent__that_always_dies_is_told),
        cmocka_unit_test(test_engine__killed_harms_no_attempt),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
