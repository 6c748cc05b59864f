/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/executors/executor_test.h"

/* Commands that cannot start, or hardly. */

static void set_environment(struct attempt_spec *spec)
{
    static char path[] = "PATH=/usr/bin:/bin", word[] = "WORD=a b\nc";
    static char *const envp[] = {path, word, NULL};

    spec->envp = envp;
    spec->work_directory = "/usr";
}

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
                        "cannot change to directory '/no/such/place': "
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch__names_a_missing_program),
        cmocka_unit_test(test_launch__names_a_missing_path),
        cmocka_unit_test(test_launch__tells_what_is_no_program),
        cmocka_unit_test(test_launch__names_a_missing_directory),
        cmocka_unit_test(test_launch__refuses_a_taken_directory),
        cmocka_unit_test(test_launch__tells_of_too_long_a_variable),
        cmocka_unit_test(test_launch__passes_a_megabyte_of_arguments),
        cmocka_unit_test(test_launch__more_than_any_system_takes_is_an_error),
        cmocka_unit_test(test_launch__runs_a_script_without_a_first_line),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
