/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "orchestrator/job/links.h"

enum { TIME_MS = 1000, BEFORE_MS = 400, START_MS = 1000000 };

static const struct link_rule rule = {
    .max = 3, .signal = SIGUSR2, .before_ms = BEFORE_MS};

static char text[LINKS_TEXT_MAX];

/* An attempt that ran so long ends for that cause. */
static enum link_verdict end_after(struct links *links,
                                   const struct link_rule *of, int64_t ran_ms,
                                   enum attempt_cause cause,
                                   const char *checkpoint)
{
    const struct attempt_exit end = {
        .cause = cause, .started_ms = START_MS, .ended_ms = START_MS + ran_ms};
    const struct link_end link = {&end, TIME_MS, checkpoint};

    memset(text, 0, sizeof(text));
    return links_end(links, of, &link, text);
}

static enum link_verdict time_out(struct links *links,
                                  const struct link_rule *of,
                                  const char *checkpoint)
{
    return end_after(links, of, TIME_MS + 5, CAUSE_TIMEOUT, checkpoint);
}

static void test_links__follow_while_the_checkpoint_moves_on(void **state)
{
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "b"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "c"), LINK_FOLLOWS);
    assert_int_equal(links.count, 3);
    assert_int_equal(time_out(&links, &rule, "d"), LINK_DENIED);
    assert_string_equal(text, "continue.max=3 is reached");
}

static void test_links__what_is_lost_uses_no_time(void **state)
{
    enum { DAYS_MS = 3 * 24 * 3600 * 1000 };
    const struct link_rule of = {.max = 9, .total_ms = (int64_t)2 * TIME_MS};
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(end_after(&links, &of, DAYS_MS, CAUSE_LOST, "a"),
                     LINK_NONE);
    assert_int_equal(time_out(&links, &of, "b"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &of, "c"), LINK_DENIED);
    assert_string_equal(text, "continue.total is used up (2.0 s)");
}

static void test_links__two_in_a_row_without_progress_are_the_end(void **state)
{
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "b"), LINK_FOLLOWS);
    memset(&links, 0, sizeof(links));
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "a"), LINK_DENIED);
    assert_string_equal(
        text, "two links without progress (the checkpoint did not change)");
    memset(&links, 0, sizeof(links));
    assert_int_equal(time_out(&links, &rule, NULL), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, NULL), LINK_DENIED);
    assert_string_equal(text,
                        "two links without progress (no checkpoint was saved)");
}

/* One that went away is no progress, and neither is one that came back. */
static void test_links__a_lost_checkpoint_is_no_progress(void **state)
{
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, NULL), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "a"), LINK_DENIED);
}

/* A chain that went on without an engine: each link but its last was overtaken
 * by the next, and what that left tells of them all. */
static void test_links__what_nobody_saw_is_told_by_what_follows(void **state)
{
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, LINKS_UNSEEN), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "b"), LINK_FOLLOWS);
    assert_int_equal(links.idle, 0);
    memset(&links, 0, sizeof(links));
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, LINKS_UNSEEN), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "a"), LINK_DENIED);
    assert_string_equal(
        text, "two links without progress (the checkpoint did not change)");
    memset(&links, 0, sizeof(links));
    assert_int_equal(time_out(&links, &rule, LINKS_UNSEEN), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, NULL), LINK_DENIED);
    assert_string_equal(text,
                        "two links without progress (no checkpoint was saved)");
}

static void test_links__other_ends_are_none(void **state)
{
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(end_after(&links, &rule, 200, CAUSE_EXIT, "a"), LINK_NONE);
    assert_int_equal(end_after(&links, &rule, 900, CAUSE_OK, "b"), LINK_NONE);
    assert_int_equal(end_after(&links, &rule, 900, CAUSE_LOST, "b"), LINK_NONE);
    assert_int_equal(end_after(&links, &rule, 900, CAUSE_NO_METRIC, "b"),
                     LINK_NONE);
    assert_int_equal(links.count, 0);
    assert_int_equal(links.idle, 0);
    assert_int_equal(time_out(&links, &rule, "b"), LINK_FOLLOWS);
    assert_int_equal(end_after(&links, &rule, 5, CAUSE_EXIT, "c"), LINK_NONE);
    assert_int_equal(links.idle, 0);
    assert_int_equal(time_out(&links, &rule, "c"), LINK_FOLLOWS);
}

static void test_links__a_bad_end_after_the_warning_is_one(void **state)
{
    const struct link_rule silent = {.max = 3};
    struct links links = {.count = 0};
    const int64_t warned_ms = TIME_MS - BEFORE_MS;

    (void)state;
    assert_int_equal(end_after(&links, &rule, warned_ms, CAUSE_EXIT, "a"),
                     LINK_FOLLOWS);
    assert_int_equal(end_after(&links, &rule, warned_ms + 1, CAUSE_SIGNAL, "b"),
                     LINK_FOLLOWS);
    assert_int_equal(end_after(&links, &rule, warned_ms - 2, CAUSE_EXIT, "c"),
                     LINK_NONE);
    assert_int_equal(end_after(&links, &silent, warned_ms, CAUSE_EXIT, "d"),
                     LINK_NONE);
}

static void test_links__end_when_their_time_is_used(void **state)
{
    const struct link_rule bounded = {.max = 60, .total_ms = 2200};
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(time_out(&links, &bounded, "a"), LINK_FOLLOWS);
    assert_int_equal(end_after(&links, &bounded, 190, CAUSE_EXIT, "b"),
                     LINK_NONE);
    assert_int_equal(time_out(&links, &bounded, "c"), LINK_DENIED);
    assert_string_equal(text, "continue.total is used up (2.2 s)");
}

/* With statuses of its own, also 0, and no other. */
static void test_links__follow_the_exits_that_are_listed(void **state)
{
    struct link_rule listed = rule;
    struct links links = {.count = 0};
    struct attempt_exit end = {.cause = CAUSE_OK,
                               .started_ms = START_MS,
                               .ended_ms = START_MS + TIME_MS - BEFORE_MS};
    const struct link_end link = {&end, TIME_MS, "a"};

    (void)state;
    listed.exits.bits[0] = 1;
    listed.exits.bits[1] = UINT64_C(1) << (85 - 64);
    links_take_exit(&rule, TIME_MS, &end);
    assert_int_equal(end.cause, CAUSE_OK);
    links_take_exit(&listed, TIME_MS, &end);
    assert_int_equal(end.cause, CAUSE_EXIT);
    assert_int_equal(links_end(&links, &listed, &link, text), LINK_FOLLOWS);
    end.exit_code = 85;
    assert_true(links_is_by_time(&listed, &link));
    end.exit_code = 1;
    assert_false(links_is_by_time(&listed, &link));
    end.cause = CAUSE_SIGNAL;
    end.exit_code = -1;
    assert_false(links_is_by_time(&listed, &link));
    end = (struct attempt_exit){.cause = CAUSE_OK,
                                .started_ms = START_MS,
                                .ended_ms = START_MS + BEFORE_MS};
    links_take_exit(&listed, TIME_MS, &end);
    assert_int_equal(end.cause, CAUSE_OK);
}

static void test_links__a_torn_checkpoint_is_no_progress(void **state)
{
    struct links links = {.count = 0};

    (void)state;
    assert_int_equal(time_out(&links, &rule, "a"), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, LINKS_TORN), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, "b"), LINK_FOLLOWS);
    memset(&links, 0, sizeof(links));
    assert_int_equal(time_out(&links, &rule, LINKS_TORN), LINK_FOLLOWS);
    assert_int_equal(time_out(&links, &rule, LINKS_TORN), LINK_DENIED);
    assert_string_equal(text,
                        "two links without progress (the checkpoint is torn)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links__follow_while_the_checkpoint_moves_on),
        cmocka_unit_test(test_links__what_is_lost_uses_no_time),
        cmocka_unit_test(test_links__two_in_a_row_without_progress_are_the_end),
        cmocka_unit_test(test_links__a_lost_checkpoint_is_no_progress),
        cmocka_unit_test(test_links__what_nobody_saw_is_told_by_what_follows),
        cmocka_unit_test(test_links__other_ends_are_none),
        cmocka_unit_test(test_links__a_bad_end_after_the_warning_is_one),
        cmocka_unit_test(test_links__end_when_their_time_is_used),
        cmocka_unit_test(test_links__follow_the_exits_that_are_listed),
        cmocka_unit_test(test_links__a_torn_checkpoint_is_no_progress),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
