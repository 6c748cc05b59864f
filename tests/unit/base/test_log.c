/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "tests/unit/folder.h"

/* What the owner hears. */
struct trouble {
    int count;
    char text[ERR_TEXT_MAX];
};

static void on_trouble(void *user, const char *text)
{
    struct trouble *trouble = user;

    trouble->count++;
    snprintf(trouble->text, sizeof(trouble->text), "%s", text);
}

static struct log *open_log(const char *words, const char *path,
                            struct trouble *trouble)
{
    struct log_setup setup;
    struct err err;

    *trouble = (struct trouble){0};
    assert_int_equal(log_setup_parse(words, &setup, &err), 0);
    setup.path = path;
    return log_create(&setup, &(struct log_owner){"demo", on_trouble, trouble});
}

/* The file without the times; the caller frees. */
static char *read_lines(const char *path)
{
    struct buf text = BUF_INIT, lines = BUF_INIT;
    struct err err;
    const char *at;

    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    for (at = buf_text(&text); *at != '\0';) {
        size_t length = strcspn(at, "\n");

        assert_int_equal(at[10], 'T');
        assert_int_equal(at[19], '.');
        assert_int_equal(at[23], 'Z');
        buf_add(&lines, at + 25, length - 24);
        at += length + 1;
    }
    buf_clear(&text);
    return buf_take(&lines);
}

static void check_file(const char *path, const char *expected)
{
    char *lines = read_lines(path);

    assert_string_equal(lines, expected);
    free(lines);
}

static void test_log__setup(void **state)
{
    struct log_setup setup;
    struct err err;

    (void)state;
    assert_int_equal(log_setup_parse("debug", &setup, &err), 0);
    assert_true(log_setup_is_on(&setup));
    assert_null(setup.path);
    for (int i = 0; i < LOG_PART_COUNT; i++)
        assert_int_equal(setup.levels[i], LOG_DEBUG);

    assert_int_equal(
        log_setup_parse("slurm=debug,engine=info:a:b", &setup, &err), 0);
    assert_string_equal(setup.path, "a:b");
    assert_int_equal(setup.levels[LOG_SLURM], LOG_DEBUG);
    assert_int_equal(setup.levels[LOG_ENGINE], LOG_INFO);
    assert_int_equal(setup.levels[LOG_EXECUTOR], LOG_OFF);

    assert_int_equal(log_setup_parse("info,slurm=off:", &setup, &err), 0);
    assert_null(setup.path);
    assert_int_equal(setup.levels[LOG_SLURM], LOG_OFF);
    assert_int_equal(setup.levels[LOG_EXECUTOR], LOG_INFO);

    assert_int_equal(log_setup_parse("off", &setup, &err), 0);
    assert_false(log_setup_is_on(&setup));

    log_setup_set(&setup, "warning");
    assert_int_equal(setup.levels[LOG_SLURM], LOG_WARNING);
}

static void test_log__setup_refuses(void **state)
{
    static const char *const bad[][2] = {
        {"degub", "SMTUNE_LOG: unknown level 'degub' (did you mean 'debug'?)"},
        {"", "SMTUNE_LOG: unknown level '' (one of: off, error, warning, "
             "info, debug)"},
        {"slurn=info", "SMTUNE_LOG: unknown subsystem 'slurn' (did you mean "
                       "'slurm'?)"},
        {"info,slurm=:x", "SMTUNE_LOG: unknown level '' (one of: off, error, "
                          "warning, info, debug)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct log_setup setup;
        struct err err;

        assert_int_equal(log_setup_parse(bad[i][0], &setup, &err), -1);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_string_equal(err.text, bad[i][1]);
        assert_false(log_setup_is_on(&setup));
    }
}

static int evaluated(int *count)
{
    return ++*count;
}

static void test_log__levels(void **state)
{
    char *path = fs_join(*state, "log");
    struct trouble trouble;
    struct log *log = open_log("warning,slurm=debug", path, &trouble);
    struct stat status;
    int count = 0;

    LOG(log, LOG_ENGINE, LOG_WARNING, 4, "n=%d", evaluated(&count));
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "n=%d", evaluated(&count));
    LOG(log, LOG_SLURM, LOG_DEBUG, 0, "n=%d", evaluated(&count));
    log_destroy(log);
    log = NULL;
    LOG(log, LOG_ENGINE, LOG_ERROR, 0, "n=%d", evaluated(&count));
    log_hide(log, "name", "value");
    assert_int_equal(count, 2);
    check_file(path, "warning engine run=demo job=4 n=1\n"
                     "debug slurm run=demo job=- n=2\n");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(trouble.count, 0);
    assert_null(open_log("off", path, &trouble));

    log = open_log("info", path, &trouble);
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "again");
    log_destroy(log);
    check_file(path, "warning engine run=demo job=4 n=1\n"
                     "debug slurm run=demo job=- n=2\n"
                     "info engine run=demo job=- again\n");
    free(path);
}

static void test_log__text(void **state)
{
    char *path = fs_join(*state, "log");
    struct trouble trouble;
    struct log *log = open_log("info", path, &trouble);
    struct buf excerpt = BUF_INIT;

    log_hide(log, "notify.url", "https://hooks.example/x");
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "%s",
        "\x1b[31mred\x1b[0m\ntwo\xff\xc2\x9b end");
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "to %s token=abc",
        "https://hooks.example/x");
    log_add_excerpt(log, "ab https://hooks.example/x", 26, 5, &excerpt);
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "%s", buf_text(&excerpt));
    log_destroy(log);
    check_file(path, "info engine run=demo job=- \\x1b[31mred\\x1b[0m\\ntwo"
                     "\\xff\\xc2\\x9b end\n"
                     "info engine run=demo job=- to <notify.url> token=***\n"
                     "info engine run=demo job=- ab <n\n");
    buf_clear(&excerpt);
    free(path);
}

static void test_log__long_line(void **state)
{
    char *path = fs_join(*state, "log"), *lines;
    struct trouble trouble;
    struct log *log = open_log("info", path, &trouble);

    LOG(log, LOG_ENGINE, LOG_INFO, 0, "%0100000d", 0);
    log_destroy(log);
    lines = read_lines(path);
    assert_true(strlen(lines) > 16384 && strlen(lines) < 17000);
    free(lines);
    free(path);
}

static void test_log__full_disk(void **state)
{
    struct trouble trouble;
    struct log *log = open_log("info", "/dev/full", &trouble);

    (void)state;
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "one");
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "two");
    log_destroy(log);
    assert_int_equal(trouble.count, 1);
    assert_string_equal(trouble.text,
                        "cannot write the log /dev/full: No space left on "
                        "device");
}

static void test_log__no_such_folder(void **state)
{
    struct trouble trouble;
    struct log *log = open_log("info", "/nowhere/log", &trouble);

    (void)state;
    assert_int_equal(trouble.count, 1);
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "one");
    log_destroy(log);
    assert_int_equal(trouble.count, 1);
    assert_string_equal(
        trouble.text,
        "cannot write the log /nowhere/log: No such file or directory");
}

static void drain(int fd, struct buf *text)
{
    char chunk[4096];
    ssize_t length;

    while ((length = read(fd, chunk, sizeof(chunk))) > 0)
        buf_add(text, chunk, (size_t)length);
}

/* A pipe that is full takes no line, or a part of one; later it has room. */
static void test_log__lost_lines(void **state)
{
    static const char last[] = "info engine run=demo job=- the last\n";
    char path[64];
    struct trouble trouble;
    struct buf text = BUF_INIT;
    struct log *log;
    const char *place;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
    log = open_log("info", path, &trouble);
    for (int i = 0; i < 10; i++)
        LOG(log, LOG_ENGINE, LOG_INFO, 0, "%010000d", i);
    assert_int_equal(trouble.count, 1);
    drain(ends[0], &text);
    LOG(log, LOG_ENGINE, LOG_INFO, 0, "the last");
    log_destroy(log);
    drain(ends[0], &text);
    assert_int_equal(trouble.count, 1);
    place = strstr(buf_text(&text), "lost lines that could not be written: ");
    assert_non_null(place);
    assert_true(text.length > sizeof(last));
    assert_string_equal(text.data + text.length - strlen(last), last);
    for (const char *at = text.data; (at = strchr(at, '\n')) != NULL; at++)
        assert_true(at[1] == '\0' || strncmp(at, "\n20", 3) == 0);
    close(ends[0]);
    close(ends[1]);
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log__setup),
        cmocka_unit_test(test_log__setup_refuses),
        cmocka_unit_test_setup_teardown(test_log__levels, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_log__text, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_log__long_line, make_folder,
                                        remove_folder),
        cmocka_unit_test(test_log__full_disk),
        cmocka_unit_test(test_log__no_such_folder),
        cmocka_unit_test(test_log__lost_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
