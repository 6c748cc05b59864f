/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/attempt/command.h"

struct seen {
    struct command_result result;
    char output[256], errors[256];
    int count;
};

static void on_done(void *user, const struct command_result *result)
{
    struct seen *seen = user;

    seen->result = *result;
    snprintf(seen->output, sizeof(seen->output), "%s", result->output);
    snprintf(seen->errors, sizeof(seen->errors), "%s", result->errors);
    seen->count++;
}

static char shell[] = "/bin/sh", option[] = "-c";

static const char stop_at[] = "trying again";

/* Until it has ended, by its limit at the latest. */
static struct seen run(char *script, const char *input, int64_t limit_ms)
{
    char word[] = "WORD=a b", path[] = "PATH=/usr/bin:/bin";
    char *argv[] = {shell, option, script, NULL};
    char *envp[] = {word, path, NULL};
    const struct command_options options = {.program = shell,
                                            .argv = argv,
                                            .envp = envp,
                                            .input = input,
                                            .output_max = 100000,
                                            .limit_ms = limit_ms,
                                            .stop_at = stop_at};
    struct seen seen = {.count = 0};
    uv_loop_t loop;

    uv_loop_init(&loop);
    assert_non_null(command_start(&loop, &options, on_done, &seen, NULL));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(seen.count, 1);
    return seen;
}

static void test_command__is_ended_at_what_it_says(void **state)
{
    char script[] = "echo busy; printf 'full, trying ' >&2; sleep 0.1; "
                    "echo again >&2; sleep 100";
    struct seen seen = run(script, NULL, 60000);

    (void)state;
    assert_true(seen.result.is_stopped);
    assert_false(seen.result.is_late);
    assert_int_equal(seen.result.exit_code, -1);
    assert_string_equal(seen.output, "busy\n");
    assert_string_equal(seen.errors, "full, trying again\n");
}

static void test_command__tells_both_outputs_and_the_status(void **state)
{
    char script[] = "cat; echo \"$WORD\" >&2; exit 7";
    struct seen seen = run(script, "in\n", 60000);

    (void)state;
    assert_string_equal(seen.output, "in\n");
    assert_string_equal(seen.errors, "a b\n");
    assert_int_equal(seen.result.exit_code, 7);
    assert_int_equal(seen.result.output_length, 3);
    assert_false(seen.result.is_late);
    assert_false(seen.result.is_cut);
}

static void test_command__has_nothing_of_ours(void **state)
{
    char script[] = "cat | wc -c; ls /proc/self/fd | wc -l; "
                    "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo leader";
    int spare = dup(1);
    struct seen seen = run(script, NULL, 60000);

    (void)state;
    close(spare);
    assert_string_equal(seen.output, "0\n4\nleader\n");
}

static void test_command__large_texts_go_both_ways(void **state)
{
    char script[] = "cat", *text = mem_alloc(90001);
    struct seen seen;

    (void)state;
    memset(text, 'x', 90000);
    text[90000] = '\0';
    seen = run(script, text, 60000);
    free(text);
    assert_int_equal(seen.result.output_length, 90000);
    assert_false(seen.result.is_cut);
}

static void test_command__an_endless_output_is_cut_and_ended(void **state)
{
    char script[] = "yes";
    struct seen seen = run(script, NULL, 60000);

    (void)state;
    assert_true(seen.result.is_cut);
    assert_int_equal(seen.result.output_length, 100000);
    assert_int_equal(seen.result.exit_code, -1);
}

static void test_command__its_time_is_limited(void **state)
{
    char polite[] = "trap 'echo told; exit 3' TERM; sleep 100 & wait";
    char stubborn[] = "trap '' TERM; echo deaf; while :; do sleep 1; done";
    struct seen seen = run(polite, NULL, 300);
    int64_t before = clock_monotonic_ms();

    (void)state;
    assert_true(seen.result.is_late);
    assert_string_equal(seen.output, "told\n");
    assert_int_equal(seen.result.exit_code, 3);
    seen = run(stubborn, NULL, 300);
    assert_true(seen.result.is_late);
    assert_int_equal(seen.result.exit_code, -1);
    assert_true(clock_monotonic_ms() - before < 50000);
}

static void test_command__what_it_leaves_behind_is_not_waited_for(void **state)
{
    char script[] = "sleep 30 & echo $!";
    int64_t before = clock_monotonic_ms();
    struct seen seen = run(script, NULL, 60000);

    (void)state;
    assert_true(clock_monotonic_ms() - before < 20000);
    assert_false(seen.result.is_late);
    assert_int_equal(kill((pid_t)strtol(seen.output, NULL, 10), SIGKILL), 0);
}

static void test_command__what_is_no_program_is_an_error(void **state)
{
    char *argv[] = {shell, NULL}, *envp[] = {NULL};
    const struct command_options options = {
        .program = "/nowhere", .argv = argv, .envp = envp, .output_max = 1};
    struct seen seen = {.count = 0};
    struct err err;
    uv_loop_t loop;

    (void)state;
    uv_loop_init(&loop);
    assert_null(command_start(&loop, &options, on_done, &seen, &err));
    assert_non_null(strstr(err.text, "cannot start '/nowhere'"));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(seen.count, 0);
}

static void test_command__can_be_killed(void **state)
{
    char script[] = "trap '' TERM; while :; do sleep 1; done";
    char *argv[] = {shell, option, script, NULL}, *envp[] = {NULL};
    const struct command_options options = {.program = shell,
                                            .argv = argv,
                                            .envp = envp,
                                            .output_max = 100,
                                            .limit_ms = 60000};
    struct seen seen = {.count = 0};
    struct command *command;
    uv_loop_t loop;

    (void)state;
    uv_loop_init(&loop);
    command = command_start(&loop, &options, on_done, &seen, NULL);
    command_kill(command);
    assert_int_equal(seen.count, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.result.exit_code, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command__is_ended_at_what_it_says),
        cmocka_unit_test(test_command__tells_both_outputs_and_the_status),
        cmocka_unit_test(test_command__has_nothing_of_ours),
        cmocka_unit_test(test_command__large_texts_go_both_ways),
        cmocka_unit_test(test_command__an_endless_output_is_cut_and_ended),
        cmocka_unit_test(test_command__its_time_is_limited),
        cmocka_unit_test(test_command__what_it_leaves_behind_is_not_waited_for),
        cmocka_unit_test(test_command__what_is_no_program_is_an_error),
        cmocka_unit_test(test_command__can_be_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
