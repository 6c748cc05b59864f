/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executor_test.h"

/* Ignores SIGTERM, once it has said so. */
#define STUBBORN "trap '' TERM; echo up; while :; do sleep 1000; done"

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
 * stdin, stdout, stderr and the claim. */
static void test_local__command_starts_clean(void **state)
{
    struct bench bench;
    char *log;

    (void)state;
    open_local(&bench);
    run_shell(&bench,
              "grep -E 'SigBlk|SigIgn' /proc/$$/status | cut -f2;"
              "cut -d' ' -f5,6 /proc/$$/stat | sed s/$$/own/g;"
              "readlink /proc/$$/fd/0; ls /proc/$$/fd | wc -l",
              NULL);
    log = bench_read(&bench, 1, "log");
    assert_string_equal(log, "0000000000000000\n0000000000000000\nown own\n"
                             "/dev/null\n4\n");
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

/* -- What cannot start ----------------------------------------------------*/

static char *no_argv[] = {NULL, NULL};

static const char *launch(struct bench *bench, const char *program,
                          void (*adjust)(struct attempt_spec *))
{
    struct attempt_spec spec = bench_spec(bench, 1);
    const struct attempt_exit *end;
    char *name = mem_copy_string(program);

    no_argv[0] = name;
    spec.argv = no_argv;
    if (adjust != NULL)
        adjust(&spec);
    assert_int_equal(bench_start(bench, &spec, NULL), START_OK);
    free(name);
    BENCH_RUN_UNTIL(bench, bench->end_count == 1);
    assert_int_equal(bench->start_count, 0);
    end = bench_end_of(bench, 1);
    assert_int_equal(end->cause, CAUSE_LAUNCH_ERROR);
    assert_int_equal(end->exit_code, -1);
    assert_int_equal(end->signal, 0);
    return end->text;
}

static void test_launch__names_a_missing_program(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_string_equal(launch(&bench, "no-such-thing", set_environment),
                        "no program 'no-such-thing' in the PATH: "
                        "/usr/bin:/bin");
    assert_true(bench_has(&bench, 1, "exit"));
    bench_close(&bench);
}

static void test_launch__names_a_missing_path(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_string_equal(launch(&bench, "./no/such", NULL),
                        "no program './no/such', or its interpreter is "
                        "missing");
    bench_close(&bench);
}

static void test_launch__tells_what_is_no_program(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_string_equal(launch(&bench, "/etc/passwd", NULL),
                        "cannot execute '/etc/passwd': Permission denied");
    bench_close(&bench);
}

static void go_nowhere(struct attempt_spec *spec)
{
    spec->work_directory = "/no/such/place";
}

static void test_launch__names_a_missing_directory(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_string_equal(launch(&bench, "/bin/true", go_nowhere),
                        "cannot enter directory '/no/such/place': "
                        "No such file or directory");
    bench_close(&bench);
}

static void test_launch__refuses_a_taken_directory(void **state)
{
    struct bench bench;
    char *directory, *claim;

    (void)state;
    open_local(&bench);
    directory = bench_path(&bench, 1, NULL);
    claim = bench_path(&bench, 1, "claim");
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(fs_write_atomic(claim, "", 0, 0600, NULL), 0);
    assert_non_null(strstr(launch(&bench, "/bin/true", NULL), "File exists"));
    assert_false(bench_has(&bench, 1, "exit"));
    assert_false(bench_has(&bench, 1, "log"));
    free(directory);
    free(claim);
    bench_close(&bench);
}

static void start_with_variable(struct bench *bench, size_t bytes)
{
    char *variable = mem_array(bytes + 1, 1);
    char *envp[] = {variable, NULL};
    static char program[] = "/bin/true";
    char *argv[] = {program, NULL};
    struct attempt_spec spec = bench_spec(bench, 1);

    memset(variable, 'x', bytes);
    variable[1] = '=';
    spec.argv = argv;
    spec.envp = envp;
    assert_int_equal(bench_start(bench, &spec, NULL), START_OK);
    free(variable);
    BENCH_RUN_UNTIL(bench, bench->end_count == 1);
}

static void test_launch__tells_of_too_long_a_variable(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    start_with_variable(&bench, 1 << 20);
    assert_int_equal(bench.ends[0].cause, CAUSE_LAUNCH_ERROR);
    assert_string_equal(bench.ends[0].text,
                        "cannot execute '/bin/true': Argument list too long");
    bench_close(&bench);
}

static void test_launch__passes_a_megabyte_of_arguments(void **state)
{
    enum { WORDS = 10, WORD_BYTES = 100000 };
    static char program[] = "/bin/echo";
    struct bench bench;
    struct attempt_spec spec;
    char *argv[WORDS + 2] = {program}, *log;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= WORDS; i++) {
        argv[i] = mem_array(WORD_BYTES + 1, 1);
        memset(argv[i], 'a' + i, WORD_BYTES);
    }
    spec = bench_spec(&bench, 1);
    spec.argv = argv;
    assert_int_equal(bench_start(&bench, &spec, NULL), START_OK);
    for (int i = 1; i <= WORDS; i++)
        free(argv[i]);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    assert_int_equal(bench.ends[0].cause, CAUSE_OK);
    log = bench_read(&bench, 1, "log");
    assert_int_equal(strlen(log), WORDS * (WORD_BYTES + 1));
    free(log);
    bench_close(&bench);
}

static void test_launch__more_than_any_system_takes_is_an_error(void **state)
{
    enum { BYTES = 20 << 20 };
    static char program[] = "/bin/echo";
    struct bench bench;
    struct attempt_spec spec;
    char *argv[3] = {program, NULL, NULL};
    struct err err;

    (void)state;
    open_local(&bench);
    argv[1] = mem_array(BYTES + 1, 1);
    memset(argv[1], 'a', BYTES);
    spec = bench_spec(&bench, 1);
    spec.argv = argv;
    assert_int_equal(bench_start(&bench, &spec, &err), START_ERROR);
    assert_non_null(strstr(err.text, "bytes"));
    free(argv[1]);
    bench_close(&bench);
}

static void test_launch__runs_a_script_without_a_first_line(void **state)
{
    struct bench bench;
    char *path, *log;
    static const char script[] = "echo script $# $1\n";
    static char word[] = "a b";
    char *argv[] = {NULL, word, NULL};
    struct attempt_spec spec;

    (void)state;
    open_local(&bench);
    path = fs_join(bench.root, "script");
    assert_int_equal(fs_write_atomic(path, script, strlen(script), 0700, NULL),
                     0);
    argv[0] = path;
    spec = bench_spec(&bench, 1);
    spec.argv = argv;
    assert_int_equal(bench_start(&bench, &spec, NULL), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 1);
    log = bench_read(&bench, 1, "log");
    assert_string_equal(log, "script 1 a b\n");
    free(log);
    free(path);
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
    assert_true(end->max_rss_bytes > INT64_C(64) << 20);
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

/* -- Many -----------------------------------------------------------------*/

static void test_queue__is_in_order_and_limited(void **state)
{
    enum { COUNT = 40 };
    struct bench bench;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= COUNT; i++)
        assert_int_equal(start_shell(&bench, i, "exit 0", NULL), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == COUNT);
    assert_int_equal(bench.start_count, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(bench.started[i], i + 1);
    assert_int_equal(bench.running_max, 2);
    bench_close(&bench);
}

static void test_queue__a_waiting_attempt_is_withdrawn(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= 4; i++)
        start_shell(&bench, i, "exec sleep 1000", NULL);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 2);
    executor_cancel(bench.executor, 4, CANCEL_TERM);
    executor_cancel(bench.executor, 3, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    assert_int_equal(bench_end_of(&bench, 3)->cause, CAUSE_CANCELLED);
    assert_int_equal(bench_end_of(&bench, 4)->cause, CAUSE_CANCELLED);
    assert_false(bench_has(&bench, 3, "claim"));
    executor_cancel(bench.executor, 1, CANCEL_KILL);
    executor_cancel(bench.executor, 2, CANCEL_KILL);
    start_shell(&bench, 5, "exit 0", NULL);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 5);
    assert_int_equal(bench_end_of(&bench, 5)->cause, CAUSE_OK);
    assert_int_equal(bench.start_count, 3);
    bench_close(&bench);
}

static void test_many__run_at_once(void **state)
{
    enum { COUNT = 300 };
    const struct executor_options options = {
        .name = "local", .cpus = 1, .gpus = 0, .parallel = COUNT};
    struct bench bench;

    (void)state;
    bench_open(&bench, &options);
    for (int i = 1; i <= COUNT;) {
        if (start_shell(&bench, i, "exec sleep 1000", NULL) == START_OK) {
            i++;
            continue;
        }
        bench.room_count = 0;
        BENCH_RUN_UNTIL(&bench, bench.room_count > 0);
    }
    BENCH_RUN_UNTIL(&bench, bench.start_count == COUNT);
    assert_int_equal(bench.running_max, COUNT);
    for (int i = 1; i <= COUNT; i++)
        executor_cancel(bench.executor, i, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == COUNT);
    for (int i = 1; i <= COUNT; i++)
        assert_int_equal(bench_end_of(&bench, i)->cause, CAUSE_CANCELLED);
    bench_close(&bench);
}

/* -- Slots ----------------------------------------------------------------*/

static void one_cpu(struct attempt_spec *spec)
{
    spec->cpus = 1;
}

static void two_cpus(struct attempt_spec *spec)
{
    spec->cpus = 2;
}

static void one_gpu(struct attempt_spec *spec)
{
    spec->gpus = 1;
}

static void test_slots__used_up_refuse_until_there_is_room(void **state)
{
    struct bench bench;

    (void)state;
    open_local(&bench);
    assert_int_equal(start_shell(&bench, 1, "exec sleep 1000", one_cpu),
                     START_OK);
    assert_int_equal(start_shell(&bench, 2, "exit 0", two_cpus), START_FULL);
    assert_int_equal(start_shell(&bench, 3, "exec sleep 1000", one_cpu),
                     START_OK);
    assert_int_equal(start_shell(&bench, 4, "exit 0", one_cpu), START_FULL);
    BENCH_RUN_UNTIL(&bench, bench.start_count == 2);
    assert_int_equal(start_shell(&bench, 4, "exit 0", one_cpu), START_FULL);
    bench.room_count = 0;
    executor_cancel(bench.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.room_count > 0);
    assert_int_equal(start_shell(&bench, 4, "exit 0", one_cpu), START_OK);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 2);
    executor_cancel(bench.executor, 3, CANCEL_TERM);
    BENCH_RUN_UNTIL(&bench, bench.end_count == 3);
    bench_close(&bench);
}

static void test_slots__that_never_come_are_an_error(void **state)
{
    const struct executor_options options = {
        .name = "local", .cpus = 1, .gpus = 0, .parallel = 2};
    struct bench bench;

    (void)state;
    bench_open(&bench, &options);
    assert_int_equal(executor_cpus(bench.executor), 1);
    assert_int_equal(executor_gpus(bench.executor), 0);
    assert_int_equal(start_shell(&bench, 1, "exit 0", two_cpus), START_ERROR);
    assert_int_equal(start_shell(&bench, 1, "exit 0", one_gpu), START_ERROR);
    bench_close(&bench);
}

static void test_slots__short_attempts_are_taken_ahead(void **state)
{
    enum { COUNT = 60 };
    struct bench bench;
    int refused = 0;

    (void)state;
    open_local(&bench);
    for (int i = 1; i <= COUNT;) {
        if (start_shell(&bench, i, "exit 0", one_cpu) == START_OK) {
            i++;
            continue;
        }
        refused++;
        bench.room_count = 0;
        BENCH_RUN_UNTIL(&bench, bench.room_count > 0);
    }
    BENCH_RUN_UNTIL(&bench, bench.end_count == COUNT);
    assert_true(refused < COUNT - 10);
    assert_in_range(bench.running_max, 1, 2);
    bench_close(&bench);
}

static void test_slots__of_another_engine_are_waited_for(void **state)
{
    const struct executor_options options = {
        .name = "local", .cpus = 1, .gpus = 0, .parallel = 4};
    struct bench ours, theirs;

    (void)state;
    bench_open(&ours, &options);
    bench_open(&theirs, &options);
    start_shell(&ours, 1, "exec sleep 1000", one_cpu);
    BENCH_RUN_UNTIL(&ours, ours.start_count == 1);
    assert_int_equal(start_shell(&theirs, 1, "exit 0", one_cpu), START_OK);
    start_shell(&theirs, 2, "exit 0", NULL);
    executor_cancel(ours.executor, 1, CANCEL_TERM);
    BENCH_RUN_UNTIL(&ours, ours.end_count == 1);
    BENCH_RUN_UNTIL(&theirs, theirs.end_count == 2);
    assert_int_equal(theirs.started[0], 1);
    assert_true(bench_end_of(&theirs, 1)->started_ms >=
                bench_end_of(&ours, 1)->ended_ms);
    bench_close(&theirs);
    bench_close(&ours);
}

/* -- What is wrong from the start -----------------------------------------*/

static void test_create__names_what_is_wrong(void **state)
{
    static const struct executor_events events = {NULL, NULL, NULL, NULL, NULL};
    struct executor_options options = {.name = "locl", .cpus = 1};
    struct err err;
    char *shim = mem_copy_string(getenv("SMTUNE_SHIM"));
    uv_loop_t loop;

    (void)state;
    uv_loop_init(&loop);
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_string_equal(err.text, "unknown executor 'locl' (did you mean "
                                  "'local'?)");
    options.name = "local";
    options.gpus = 63;
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "63"));
    options.gpus = 0;
    options.cpus = 1000000;
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "1000000"));
    options.cpus = 1;
    setenv("SMTUNE_SHIM", "/no/such/shim", 1);
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "/no/such/shim"));
    setenv("SMTUNE_SHIM", "/bin/false", 1);
    assert_null(executor_create(&loop, &options, &events, &err));
    assert_non_null(strstr(err.text, "/bin/false"));
    setenv("SMTUNE_SHIM", shim, 1);
    free(shim);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
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
        cmocka_unit_test(test_launch__names_a_missing_program),
        cmocka_unit_test(test_launch__names_a_missing_path),
        cmocka_unit_test(test_launch__tells_what_is_no_program),
        cmocka_unit_test(test_launch__names_a_missing_directory),
        cmocka_unit_test(test_launch__refuses_a_taken_directory),
        cmocka_unit_test(test_launch__tells_of_too_long_a_variable),
        cmocka_unit_test(test_launch__passes_a_megabyte_of_arguments),
        cmocka_unit_test(test_launch__more_than_any_system_takes_is_an_error),
        cmocka_unit_test(test_launch__runs_a_script_without_a_first_line),
        cmocka_unit_test(test_local__cancel_terminates),
        cmocka_unit_test(test_local__cancel_kills_what_ignores_it),
        cmocka_unit_test(test_local__cancel_can_kill_at_once),
        cmocka_unit_test(test_local__cancel_wakes_what_is_stopped),
        cmocka_unit_test(test_local__cancel_of_what_is_unknown_is_nothing),
        cmocka_unit_test(test_local__time_limit),
        cmocka_unit_test(test_local__memory_limit),
        cmocka_unit_test(test_local__counts_the_time_of_the_whole_tree),
        cmocka_unit_test(test_leftover__in_the_group_is_ended),
        cmocka_unit_test(test_leftover__in_its_own_session_is_ended),
        cmocka_unit_test(test_leftover__double_forked_is_ended),
        cmocka_unit_test(test_leftover__with_no_environment_is_ended),
        cmocka_unit_test(test_leftover__that_closed_its_files_is_ended),
        cmocka_unit_test(test_queue__is_in_order_and_limited),
        cmocka_unit_test(test_queue__a_waiting_attempt_is_withdrawn),
        cmocka_unit_test(test_many__run_at_once),
        cmocka_unit_test(test_slots__used_up_refuse_until_there_is_room),
        cmocka_unit_test(test_slots__that_never_come_are_an_error),
        cmocka_unit_test(test_slots__short_attempts_are_taken_ahead),
        cmocka_unit_test(test_slots__of_another_engine_are_waited_for),
        cmocka_unit_test(test_create__names_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
