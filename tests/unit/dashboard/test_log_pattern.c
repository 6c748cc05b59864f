/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/log_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"

enum { TEXT = 0, REGEX = 1, ANY_CASE = 2 };

static struct log_pattern *must_create(const char *text, int how)
{
    const struct log_pattern_options options = {
        .is_regex = (how & REGEX) != 0, .ignores_case = (how & ANY_CASE) != 0};
    struct err err = {0};
    struct log_pattern *pattern = log_pattern_create(text, &options, &err);

    if (pattern == NULL)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(log_pattern_is_regex(pattern), (how & REGEX) != 0);
    return pattern;
}

static void test_log_pattern__is_found_in_a_line(void **state)
{
    static const struct {
        const char *text;
        int how;
        const char *line;
        size_t start, end; /* 0, 0: not found */
    } cases[] = {
        {"loss", TEXT, "the loss=3", 4, 8},
        {"loss", TEXT, "the Loss=3", 0, 0},
        {"LOSS", ANY_CASE, "the Loss=3", 4, 8},
        {"@[`{", ANY_CASE, "@[`{", 0, 4},
        {"@", ANY_CASE, "`", 0, 0},
        {"\xc3\xa4", ANY_CASE, "x \xc3\xa4", 2, 4},
        {"l.ss", TEXT, "the loss", 0, 0},
        {"l.ss", REGEX, "the loss", 4, 8},
        {"L.SS$", REGEX | ANY_CASE, "the loss", 4, 8},
        {"L.SS$", REGEX, "the loss", 0, 0},
        {"^the", REGEX, "the loss", 0, 3},
        {"loss", TEXT, "", 0, 0},
        {"^.*\\Kss", REGEX, "loss", 2, 4},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct log_pattern *pattern = must_create(cases[i].text, cases[i].how);
        struct log_match match = {0};
        int found = log_pattern_find(pattern, cases[i].line,
                                     strlen(cases[i].line), &match);

        if (found != (cases[i].end > 0) || match.start != cases[i].start ||
            match.end != cases[i].end)
            fail_msg("'%s' in '%s': %d, %zu to %zu", cases[i].text,
                     cases[i].line, found, match.start, match.end);
        log_pattern_destroy(pattern);
    }
}

static void test_log_pattern__is_found_in_many_lines(void **state)
{
    static const char bytes[] = "one\nTWO\0three\ntwo\n";
    struct log_pattern *pattern = must_create("Two", ANY_CASE);
    struct buf folded = BUF_INIT;
    struct log_match match;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_true(log_pattern_find_text(
            pattern,
            log_pattern_fold(pattern, bytes, sizeof(bytes) - 1, &folded),
            sizeof(bytes) - 1, &match));
    assert_int_equal(match.start, 4);
    assert_int_equal(match.end, 7);
    assert_memory_equal(folded.data, "one\ntwo\0three", 13);
    buf_clear(&folded);
    log_pattern_destroy(pattern);
    pattern = must_create("Two", TEXT);
    assert_ptr_equal(log_pattern_fold(pattern, bytes, 3, &folded), bytes);
    assert_false(log_pattern_find_text(pattern, bytes, 3, &match));
    log_pattern_destroy(pattern);
}

static void test_log_pattern__is_refused(void **state)
{
    char *text = mem_alloc(LOG_PATTERN_MAX_BYTES + 2);
    const struct {
        const char *text;
        bool is_regex;
        const char *word;
    } cases[] = {
        {"", false, "out of range 1..1024"},
        {text, false, "has 1025 bytes"},
        {"(", true, "bad regular expression"},
        {"\\C", true, "bad regular expression"},
        {"(*UTF)a", true, "bad regular expression"},
    };

    (void)state;
    memset(text, 'x', LOG_PATTERN_MAX_BYTES + 1);
    text[LOG_PATTERN_MAX_BYTES + 1] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct log_pattern_options options = {.is_regex =
                                                        cases[i].is_regex};
        struct err err = {0};

        assert_null(log_pattern_create(cases[i].text, &options, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        if (strstr(err.text, cases[i].word) == NULL)
            fail_msg("no '%s': %s", cases[i].word, err.text);
    }
    free(text);
    log_pattern_destroy(NULL);
}

/* Nothing begins or ends where a piece of the line does. */
static void test_log_pattern__matches_long_lines_in_pieces(void **state)
{
    enum { LENGTH = 10000 };
    char *line = mem_alloc(LENGTH);
    struct log_pattern *pattern = must_create("x(yz)+", REGEX);
    struct log_match match;

    (void)state;
    for (size_t at = 0; at + 3 <= LENGTH; at += 127) {
        memset(line, '-', LENGTH);
        memcpy(line + at, "xyz", 3);
        assert_int_equal(log_pattern_find(pattern, line, LENGTH, &match), 1);
        assert_int_equal(match.start, at);
        assert_int_equal(match.end, at + 3);
    }
    log_pattern_destroy(pattern);
    memset(line, '-', LENGTH);
    line[0] = 'x';
    pattern = must_create("^-|[^-]$|-$x", REGEX);
    assert_int_equal(log_pattern_find(pattern, line, LENGTH, &match), 0);
    log_pattern_destroy(pattern);
    free(line);
}

static void test_log_pattern__gives_up_what_takes_too_long(void **state)
{
    enum { LENGTH = 1024 };
    static const char *const slow[] = {"(a*)*b", "(a|aa)+$x", "(.*)\\1x"};
    char *line = mem_alloc(LENGTH);
    int64_t start_ms = clock_monotonic_ms();

    (void)state;
    memset(line, 'a', LENGTH);
    for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
        struct log_pattern *pattern = must_create(slow[i], REGEX);
        struct log_match match;

        assert_true(log_pattern_find(pattern, line, LENGTH, &match) <= 0);
        log_pattern_destroy(pattern);
    }
    /* Without a limit: longer than anybody lives. */
    assert_true(clock_monotonic_ms() - start_ms < 60000);
    free(line);
}

/* Hours of work for each MiB, of which no step is one that goes back. */
static void test_log_pattern__gives_up_a_line_in_time(void **state)
{
    enum { LENGTH = 1 << 20, LOOKS = 140 };
    struct buf text = BUF_INIT;
    char *line = mem_alloc(LENGTH);
    struct log_pattern *pattern;
    struct log_match match;
    int64_t start_ms = clock_thread_ms();

    (void)state;
    buf_add_string(&text, "..{0,30}");
    for (int i = 0; i < LOOKS; i++)
        buf_add_string(&text, "(?=.*+)");
    buf_add_string(&text, "[xz]");
    pattern = must_create(buf_text(&text), REGEX);
    memset(line, 'a', LENGTH);
    assert_int_equal(log_pattern_find(pattern, line, LENGTH, &match), -1);
    assert_true(clock_thread_ms() - start_ms < 10000);
    /* The next line has its own time. */
    assert_int_equal(log_pattern_find(pattern, "abx", 3, &match), 1);
    log_pattern_destroy(pattern);
    buf_clear(&text);
    free(line);
}

/* What is not searched for hours is, as in the line of a progress bar. */
static void test_log_pattern__has_time_for_a_long_line(void **state)
{
    static const char bar[] = "step 17 of 100, training [##   ] loss=0.25\r";
    enum { TIMES = 3000 };
    struct buf line = BUF_INIT;
    struct log_pattern *pattern = must_create("\\w+ed\\b|los{3}", REGEX);
    struct log_match match;

    (void)state;
    for (int i = 0; i < TIMES; i++)
        buf_add_string(&line, bar);
    assert_int_equal(log_pattern_find(pattern, line.data, line.length, &match),
                     0);
    buf_add_string(&line, "failed");
    assert_int_equal(log_pattern_find(pattern, line.data, line.length, &match),
                     1);
    assert_int_equal(match.end, line.length);
    log_pattern_destroy(pattern);
    buf_clear(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_pattern__is_found_in_a_line),
        cmocka_unit_test(test_log_pattern__is_found_in_many_lines),
        cmocka_unit_test(test_log_pattern__is_refused),
        cmocka_unit_test(test_log_pattern__matches_long_lines_in_pieces),
        cmocka_unit_test(test_log_pattern__gives_up_what_takes_too_long),
        cmocka_unit_test(test_log_pattern__gives_up_a_line_in_time),
        cmocka_unit_test(test_log_pattern__has_time_for_a_long_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
