/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"

enum { WORDS_MAX = 16, WENT_ON = 99 };

struct words {
    char text[256]; /* which argv points into */
    char *argv[WORDS_MAX + 1];
    int argc;
};

static void split(struct words *words, const char *line)
{
    char *at = words->text;

    memset(words, 0, sizeof(*words));
    snprintf(words->text, sizeof(words->text), "smtune-shim %s", line);
    while (at != NULL && words->argc < WORDS_MAX)
        words->argv[words->argc++] = strsep(&at, " ");
    optind = 0; /* getopt begins anew */
}

static int parse(const char *line, struct shim_options *options)
{
    static struct words words;

    split(&words, line);
    return shim_options_parse(options, words.argc, words.argv);
}

/* Of a process that says nothing. */
static int status_of(const char *line)
{
    struct shim_options options;
    int status, null;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        parse(line, &options);
        exit(WENT_ON);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_shim_options__are_read(void **state)
{
    struct shim_options options;

    (void)state;
    assert_int_equal(parse("/d -- x", &options), 1);
    assert_int_equal(options.grace_ms, 10000);
    assert_int_equal(options.agent_fd, -1);
    assert_int_equal(options.heartbeat_ms, 10000);
    assert_int_equal(options.silence_ms, 60000);
    assert_false(options.without_cgroups);
    assert_null(options.order);
    assert_int_equal(parse("--attempt 7 --time=20 --memory 30 --grace 0 "
                           "--no-cgroup /d -- x --time 5",
                           &options),
                     9);
    assert_int_equal(options.attempt, 7);
    assert_int_equal(options.time_ms, 20);
    assert_int_equal(options.memory_bytes, 30);
    assert_int_equal(options.grace_ms, 0);
    assert_true(options.without_cgroups);
    assert_int_equal(parse("--order /o", &options), 3);
    assert_string_equal(options.order, "/o");
    assert_int_equal(parse("--orders /o", &options), 3);
    assert_string_equal(options.orders, "/o");
    assert_int_equal(parse("--pilot /p --cpus 2", &options), 5);
    assert_string_equal(options.pilot, "/p");
    assert_int_equal(parse("--agent 3", &options), 3);
    assert_int_equal(options.agent_fd, 3);
}

static void test_shim_options__that_are_wrong_end_it(void **state)
{
    static const struct {
        const char *line;
        int status;
    } cases[] = {
        {"/d -- x", WENT_ON},
        {"--help", 0},
        {"", 2},
        {"/d", 2},
        {"--tine 3 /d -- x", 2},
        {"--time", 2},
        {"--time x /d -- x", 2},
        {"--time= /d -- x", 2},
        {"--time 3s /d -- x", 2},
        {"--time -3 /d -- x", 2},
        {"--time 99999999999999999999 /d -- x", 2},
        {"--heartbeat 0 --pilot /p", 2},
        {"--silence 0 --pilot /p", 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (status_of(cases[i].line) != cases[i].status)
            fail_msg("'%s' does not end with %d", cases[i].line,
                     cases[i].status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shim_options__are_read),
        cmocka_unit_test(test_shim_options__that_are_wrong_end_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
