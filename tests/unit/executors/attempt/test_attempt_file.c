/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "executors/attempt/attempt_file.h"
#include "tests/unit/folder.h"

static void test_exit__survives_writing_and_reading(void **state)
{
    const struct attempt_exit end = {
        .attempt = INT64_C(1) << 40,
        .cause = CAUSE_LAUNCH_ERROR,
        .exit_code = -1,
        .signal = 11,
        .started_ms = INT64_C(1790000000123),
        .ended_ms = INT64_C(1790000000456),
        .cpu_ms = 12,
        .max_rss_bytes = INT64_C(1) << 36,
        .has_gpu_use = true,
        .gpu_ms = -1,
        .gpu_memory_bytes = INT64_C(1) << 37,
        .text = "cannot run \"a\\b\"\n\t, \"cause\": \"ok\"",
        .node = "gpu-17",
        .is_shortage = true,
        .is_displaced = true,
    };
    struct attempt_exit read;

    assert_int_equal(exit_write(*state, &end, NULL), 0);
    assert_int_equal(exit_read(*state, end.attempt, &read), 1);
    assert_int_equal(read.attempt, end.attempt);
    assert_int_equal(read.cause, end.cause);
    assert_int_equal(read.exit_code, -1);
    assert_int_equal(read.signal, 11);
    assert_int_equal(read.started_ms, end.started_ms);
    assert_int_equal(read.ended_ms, end.ended_ms);
    assert_int_equal(read.cpu_ms, 12);
    assert_int_equal(read.max_rss_bytes, end.max_rss_bytes);
    assert_true(read.has_gpu_use);
    assert_int_equal(read.gpu_ms, -1);
    assert_int_equal(read.gpu_memory_bytes, end.gpu_memory_bytes);
    assert_string_equal(read.text, end.text);
    assert_string_equal(read.node, "gpu-17");
    assert_true(read.is_shortage);
    assert_true(read.is_displaced);
}

/* A chain went on while no engine was there: the reserve's end is that of the
 * attempt that it became. */
static void test_exit__of_a_reserve_is_the_attempts(void **state)
{
    const struct attempt_exit end = {.attempt = -4, .cause = CAUSE_TIMEOUT};
    struct attempt_exit read;

    assert_int_equal(exit_write(*state, &end, NULL), 0);
    assert_int_equal(exit_read(*state, 12, &read), 1);
    assert_int_equal(read.attempt, 12);
    assert_int_equal(read.cause, CAUSE_TIMEOUT);
}

static void test_exit__keeps_every_cause(void **state)
{
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        struct attempt_exit end = {.attempt = 1,
                                   .cause = (enum attempt_cause)cause};
        struct attempt_exit read;

        assert_int_equal(exit_write(*state, &end, NULL), 0);
        assert_int_equal(exit_read(*state, 1, &read), 1);
        assert_int_equal(read.cause, cause);
        assert_false(read.is_shortage);
    }
    assert_null(attempt_cause_names[CAUSE_COUNT]);
}

static void test_exit__of_another_attempt_is_none(void **state)
{
    const struct attempt_exit end = {.attempt = 3};
    struct attempt_exit read;

    assert_int_equal(exit_read(*state, 3, &read), 0);
    assert_int_equal(exit_write(*state, &end, NULL), 0);
    assert_int_equal(exit_read(*state, 4, &read), 0);
    assert_int_equal(exit_read(*state, 3, &read), 1);
}

static void test_exit__half_a_file_is_none(void **state)
{
    const struct attempt_exit end = {.attempt = 3, .text = "why"};
    struct attempt_exit read;
    char *path = fs_join(*state, "exit");
    char line[EXIT_LINE_MAX];
    ssize_t length;
    int fd;

    assert_int_equal(exit_write(*state, &end, NULL), 0);
    fd = open(path, O_RDONLY);
    length = pread(fd, line, sizeof(line) - 1, 0);
    close(fd);
    free(path);
    assert_true(length > 0);
    for (ssize_t part = 0; part < length; part++) {
        line[length - 1 - part] = '\0';
        put(*state, ".", "exit", line);
        assert_int_equal(exit_read(*state, 3, &read), 0);
    }
}

/* None is left of something until the limit is what it was. */
static struct rlimit deny(int resource)
{
    struct rlimit limit, none;

    getrlimit((enum __rlimit_resource)resource, &limit);
    none = limit;
    none.rlim_cur = 0;
    setrlimit((enum __rlimit_resource)resource, &none);
    return limit;
}

/* A line without one of the keys says nothing; nor does one with a value that
 * is none. */
static void each_spoilt(const char *line, const char *const *keys,
                        void (*check)(const char *folder, const char *line),
                        const char *folder)
{
    static const char *const values[] = {"x", "99999999999999999999", "\"a"};
    char spoilt[CLAIM_LINE_MAX];

    for (; *keys != NULL; keys++) {
        const char *key = strstr(line, *keys);
        int before = (int)(key - line);

        snprintf(spoilt, sizeof(spoilt), "%.*s?%s", before, line, key + 1);
        check(folder, spoilt);
        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            const char *value = strchr(key, ':') + 2;

            snprintf(spoilt, sizeof(spoilt), "%.*s%s\n", (int)(value - line),
                     line, values[i]);
            check(folder, spoilt);
        }
    }
}

static void must_be_no_exit(const char *folder, const char *line)
{
    struct attempt_exit read;

    put(folder, ".", "exit", line);
    assert_int_equal(exit_read_any(folder, &read), 0);
}

static void must_be_no_claim(const char *folder, const char *line)
{
    struct claim read;

    put(folder, ".", "claim", line);
    assert_int_equal(claim_read(folder, &read), 0);
}

static void test_exit__needs_each_of_its_keys(void **state)
{
    static const char *const keys[] = {
        "attempt\"",  "cause\"",  "exit_code\"",     "signal\"", "started_ms\"",
        "ended_ms\"", "cpu_ms\"", "max_rss_bytes\"", "text\"",   NULL};

    each_spoilt("{\"attempt\": 3, \"cause\": \"ok\", \"exit_code\": 0, "
                "\"signal\": 0, \"started_ms\": 1, \"ended_ms\": 2, "
                "\"cpu_ms\": 1, \"max_rss_bytes\": 9, \"text\": \"\"}\n",
                keys, must_be_no_exit, *state);
    must_be_no_exit(*state,
                    "{\"attempt\": 3, \"cause\": \"ok\", \"exit_code\": 0, "
                    "\"signal\": 0, \"started_ms\": -9007199254740993, "
                    "\"ended_ms\": 2, \"cpu_ms\": 1, \"max_rss_bytes\": 9, "
                    "\"text\": \"\"}\n");
}

static void test_claim__needs_each_of_its_keys(void **state)
{
    static const char *const keys[] = {
        "attempt\"", "pid\"",     "pid_start\"", "shim_pid\"", "shim_start\"",
        "time_ms\"", "boot_id\"", "host\"",      NULL};
    static const char line[] =
        "{\"attempt\": 7, \"pid\": 123, \"pid_start\": 45, "
        "\"shim_pid\": 99, \"shim_start\": 42, \"time_ms\": 1, "
        "\"boot_id\": \"b\", \"host\": \"h\"}\n";

    each_spoilt(line, keys, must_be_no_claim, *state);
    must_be_no_claim(*state, "{\"attempt\": 7, \"pid\": 1, "
                             "\"pid_start\": -1, \"shim_pid\": 9}\n");
}

/* Whoever wrote them. */
static void test_exit__escapes_are_read(void **state)
{
    static const struct {
        const char *written, *read;
    } texts[] = {
        {"a\\nb\\tc\\u0041\\/", "a\nb\tcA/"},
        {"\303\244", "\303\244"},
    };
    char line[EXIT_LINE_MAX];
    struct attempt_exit read;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        snprintf(line, sizeof(line),
                 "{\"attempt\": 3, \"cause\": \"ok\", \"exit_code\": 0, "
                 "\"signal\": 0, \"started_ms\": 1, \"ended_ms\": 2, "
                 "\"cpu_ms\": 1, \"max_rss_bytes\": 9, "
                 "\"node\": \"n\", \"text\": \"%s\"}\n",
                 texts[i].written);
        put(*state, ".", "exit", line);
        assert_int_equal(exit_read_any(*state, &read), 1);
        assert_string_equal(read.text, texts[i].read);
    }
}

static void test_exit__that_ends_in_an_escape_is_none(void **state)
{
    static const char *const ends[] = {"a\\", "a\\u0", "a\\u0041"};
    char line[EXIT_LINE_MAX];

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        snprintf(line, sizeof(line),
                 "{\"attempt\": 3, \"cause\": \"ok\", \"exit_code\": 0, "
                 "\"signal\": 0, \"started_ms\": 1, \"ended_ms\": 2, "
                 "\"cpu_ms\": 1, \"max_rss_bytes\": 9, \"node\": \"n\"}\n"
                 "\"text\": \"%s",
                 ends[i]);
        must_be_no_exit(*state, line);
    }
}

static void test_exit__text_is_ascii_and_bounded(void **state)
{
    struct attempt_exit end = {.attempt = 3, .text = "\303\244\177"}, read;

    assert_int_equal(exit_write(*state, &end, NULL), 0);
    assert_int_equal(exit_read(*state, 3, &read), 1);
    assert_string_equal(read.text, "???");
    memset(end.text, 1, sizeof(end.text) - 1);
    assert_int_equal(exit_write(*state, &end, NULL), 0);
    assert_int_equal(exit_read(*state, 3, &read), 1);
    assert_true(strlen(read.text) > 0);
    put(*state, ".", "exit",
        "{\"attempt\": 3, \"cause\": \"what no cause is as long as "
        "to be\"}\n");
    assert_int_equal(exit_read(*state, 3, &read), 0);
}

static void test_paths__that_are_too_long_lead_nowhere(void **state)
{
    char directory[5000];
    const struct attempt_exit end = {.attempt = 3};
    struct attempt_exit read;
    struct claim claim;
    struct err err;

    (void)state;
    memset(directory, 'd', sizeof(directory));
    directory[sizeof(directory) - 1] = '\0';
    assert_int_equal(claim_create(directory, &err), -1);
    assert_non_null(strstr(err.text, "dddd..."));
    assert_int_equal(claim_judge(directory, 3, &claim, &err), -1);
    assert_int_equal(claim_read(directory, &claim), 0);
    assert_false(claim_exists(directory));
    assert_true(claim_is_free(directory));
    assert_int_equal(exit_read_any(directory, &read), 0);
    assert_int_equal(exit_write(directory, &end, &err), -1);
    directory[PATH_MAX - 8] = '\0'; /* room for exit, and not for exit.tmp */
    assert_int_equal(exit_write(directory, &end, &err), -1);
    assert_false(attempt_disk_is_full("/nowhere/at/all"));
    assert_false(attempt_disk_is_full("/"));
}

/* No byte more goes into any file. */
static void test_files__that_cannot_be_written_are_an_error(void **state)
{
    const struct attempt_exit end = {.attempt = 3};
    struct rlimit limit;
    struct claim claim;
    struct err write_err, judge_err, rename_err;
    char *path = fs_join(*state, "exit");
    int written, judged;

    signal(SIGXFSZ, SIG_IGN);
    limit = deny(RLIMIT_FSIZE);
    written = exit_write(*state, &end, &write_err);
    judged = claim_judge(*state, 3, &claim, &judge_err);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(written, -1);
    assert_non_null(strstr(write_err.text, "cannot write"));
    assert_int_equal(judged, -1);
    assert_non_null(strstr(judge_err.text, "claim of attempt 3"));
    assert_int_equal(fs_make_directories(path, NULL), 0);
    assert_int_equal(exit_write(*state, &end, &rename_err), -1);
    assert_non_null(strstr(rename_err.text, path));
    free(path);
    path = fs_join(*state, "exit.tmp");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fs_make_directories(path, NULL), 0);
    assert_int_equal(exit_write(*state, &end, &rename_err), -1);
    assert_int_equal(rename_err.kind, ERR_FAILED);
    assert_non_null(strstr(rename_err.text, "cannot create"));
    free(path);
}

static void test_exit__by_time_is_one_after_the_warning(void **state)
{
    const struct attempt_spec warned = {
        .time_ms = 1000, .warn_signal = 10, .warn_before_ms = 300};
    const struct attempt_spec unlimited = {.warn_signal = 10};
    const struct attempt_spec silent = {.time_ms = 1000};
    const struct attempt_exit late = {
        .cause = CAUSE_EXIT, .started_ms = 5000, .ended_ms = 5700};
    struct attempt_exit end = late;

    (void)state;
    assert_true(exit_is_by_time(&end, &warned));
    assert_false(exit_is_by_time(&end, &silent));
    assert_false(exit_is_by_time(&end, &unlimited));
    end.ended_ms = 5500;
    assert_false(exit_is_by_time(&end, &warned));
    end = late;
    end.started_ms = 0;
    assert_false(exit_is_by_time(&end, &warned));
    end = late;
    end.cause = CAUSE_NODE_FAIL;
    assert_false(exit_is_by_time(&end, &warned));
    end.cause = CAUSE_TIMEOUT;
    assert_true(exit_is_by_time(&end, &silent));
}

static void test_exit__unseen_is_not_none(void **state)
{
    const struct attempt_exit end = {.attempt = 3};
    struct attempt_exit read;
    struct rlimit limit;
    struct claim claim;
    struct err err;

    assert_int_equal(exit_write(*state, &end, NULL), 0);
    limit = deny(RLIMIT_NOFILE);
    assert_int_equal(exit_read(*state, 3, &read), -1);
    assert_int_equal(claim_judge(*state, 3, &claim, &err), -1);
    assert_int_equal(err.kind, ERR_SHORTAGE);
    claim_identify(&claim);
    assert_string_equal(claim.boot_id, "");
    assert_true(claim_is_free(*state));
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(exit_read(*state, 3, &read), 1);
}

static void test_exit__that_is_no_file_is_none(void **state)
{
    char *path = fs_join(*state, "exit");
    struct attempt_exit read;

    assert_int_equal(fs_make_directories(path, NULL), 0);
    assert_int_equal(exit_read(*state, 3, &read), 0);
    assert_int_equal(fs_remove_tree(path, NULL), 0);
    assert_int_equal(symlink("log", path), 0);
    assert_int_equal(exit_read(*state, 3, &read), 0);
    assert_int_equal(fs_remove_tree(path, NULL), 0);
    put(*state, ".", "exit", "");
    assert_int_equal(exit_read(path, 3, &read), 0);
    free(path);
}

static void test_exit__of_a_missing_directory_is_not_found(void **state)
{
    const struct attempt_exit end = {.attempt = 3};
    struct err err;

    (void)state;
    assert_int_equal(exit_write("/nowhere/at/all", &end, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void set_time(const char *folder, const char *name, int64_t time_s)
{
    const struct timespec times[2] = {{.tv_sec = time_s}, {.tv_sec = time_s}};
    char *path = fs_join(folder, name);

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static void test_attempt__was_last_written_when_it_said_something(void **state)
{
    assert_int_equal(attempt_last_written_ms(*state), 0);
    put(*state, ".", "log", "");
    assert_int_equal(attempt_last_written_ms(*state), 0);
    put(*state, ".", "log", "one\n");
    set_time(*state, "log", 7);
    assert_int_equal(attempt_last_written_ms(*state), 7000);
    put(*state, ".", "metrics.jsonl", "{}\n");
    set_time(*state, "metrics.jsonl", 6);
    assert_int_equal(attempt_last_written_ms(*state), 7000);
    set_time(*state, "metrics.jsonl", 8);
    assert_int_equal(attempt_last_written_ms(*state), 8000);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_attempt__was_last_written_when_it_said_something),
        IN_FOLDER(test_exit__survives_writing_and_reading),
        IN_FOLDER(test_exit__of_a_reserve_is_the_attempts),
        IN_FOLDER(test_exit__keeps_every_cause),
        IN_FOLDER(test_exit__of_another_attempt_is_none),
        IN_FOLDER(test_exit__half_a_file_is_none),
        IN_FOLDER(test_exit__unseen_is_not_none),
        IN_FOLDER(test_exit__that_is_no_file_is_none),
        IN_FOLDER(test_exit__of_a_missing_directory_is_not_found),
        IN_FOLDER(test_exit__needs_each_of_its_keys),
        IN_FOLDER(test_claim__needs_each_of_its_keys),
        IN_FOLDER(test_exit__escapes_are_read),
        IN_FOLDER(test_exit__that_ends_in_an_escape_is_none),
        IN_FOLDER(test_exit__text_is_ascii_and_bounded),
        IN_FOLDER(test_paths__that_are_too_long_lead_nowhere),
        IN_FOLDER(test_files__that_cannot_be_written_are_an_error),
        IN_FOLDER(test_exit__by_time_is_one_after_the_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
