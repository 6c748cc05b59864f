/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/regex.h"
#include "orchestrator/job/retry.h"

static const struct exit_range exits[] = {{3, 3}, {9, 12}};

static const struct retry_rule rules[] = {
    {.causes = 1u << CAUSE_OOM | 1u << CAUSE_TIMEOUT, .max = 1, .backoff = 1},
    {.exits = exits, .exit_count = 2, .max = 2, .backoff = 1},
    {.causes = 1u << CAUSE_EXIT, .max = 2, .backoff = 1},
};

static struct attempt_exit ended(enum attempt_cause cause, int exit_code)
{
    return (struct attempt_exit){.cause = cause, .exit_code = exit_code};
}

static int match_end(const struct retry_rule *list, size_t count,
                     const struct attempt_exit *end)
{
    const struct retry_evidence evidence = {.end = end};
    const struct job_spec spec = {
        .retries = (struct retry_rule *)(uintptr_t)list, .retry_count = count};

    return retry_match(&spec, &evidence);
}

static void test_retry__what_was_displaced_is_none_twenty_times(void **state)
{
    struct attempt_exit end = {.cause = CAUSE_PREEMPTED};
    struct free_starts counts = {0};

    (void)state;
    assert_int_equal(retry_free_start(&end, &counts), FREE_NONE);
    end.is_displaced = true;
    for (int i = 0; i < RETRY_DISPLACED_MAX; i++)
        assert_int_equal(retry_free_start(&end, &counts), FREE_DISPLACED);
    assert_int_equal(retry_free_start(&end, &counts), FREE_NONE);
    assert_int_equal(RETRY_DISPLACED_MAX, 20);
}

static void test_retry__a_shortage_has_a_bound_of_its_own(void **state)
{
    struct attempt_exit end = {.cause = CAUSE_LAUNCH_ERROR,
                               .is_shortage = true};
    struct free_starts counts = {.displaced = RETRY_DISPLACED_MAX};
    struct buf text = BUF_INIT;

    (void)state;
    for (int i = 0; i < RETRY_SHORTAGE_MAX; i++)
        assert_int_equal(retry_free_start(&end, &counts), FREE_SHORTAGE);
    retry_print_free(&end, &counts, &text);
    assert_string_equal(buf_text(&text), "shortage 100 of 100");
    assert_int_equal(retry_free_start(&end, &counts), FREE_NONE);
    buf_clear(&text);
}

static void test_retry__a_rule_may_name_cancelled_and_no_other_matches(
    void **state)
{
    const struct retry_rule rule = {.causes = 1u << CAUSE_CANCELLED, .max = 1};
    const struct attempt_exit end = {
        .cause = CAUSE_CANCELLED, .exit_code = 75, .signal = 15};

    (void)state;
    assert_int_equal(match_end(&rule, 1, &end), 0);
    assert_int_equal(match_end(rules, ARRAY_LEN(rules), &end), -1);
}

static void test_retry__the_first_rule_that_matches_decides(void **state)
{
    static const struct {
        enum attempt_cause cause;
        int exit_code, rule;
    } cases[] = {
        {CAUSE_OOM, -1, 0},     {CAUSE_TIMEOUT, -1, 0},
        {CAUSE_EXIT, 9, 1},     {CAUSE_EXIT, 12, 1},
        {CAUSE_EXIT, 13, 2},    {CAUSE_EXIT, 1, 2},
        {CAUSE_EXIT, 75, 2},    {CAUSE_OK, 0, -1},
        {CAUSE_SIGNAL, -1, -1}, {CAUSE_CANCELLED, -1, -1},
        {CAUSE_LOST, -1, 3},    {CAUSE_NODE_FAIL, -1, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct attempt_exit end = ended(cases[i].cause, cases[i].exit_code);

        assert_int_equal(match_end(rules, 3, &end), cases[i].rule);
    }
}

static void test_retry__exit_75_asks_for_itself(void **state)
{
    struct attempt_exit again = ended(CAUSE_EXIT, 75);
    struct attempt_exit other = ended(CAUSE_EXIT, 74);

    (void)state;
    assert_int_equal(match_end(NULL, 0, &again), 0);
    assert_int_equal(match_end(NULL, 0, &other), -1);
}

static void test_retry__matches_signals_by_number(void **state)
{
    static const struct retry_rule rule = {
        .signals = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << 63};
    static const struct {
        enum attempt_cause cause;
        int signal, index;
    } cases[] = {
        {CAUSE_SIGNAL, SIGSEGV, 0}, {CAUSE_SIGNAL, SIGBUS, -1},
        {CAUSE_SIGNAL, 64, 0},      {CAUSE_SIGNAL, 0, -1},
        {CAUSE_SIGNAL, 65, -1},     {CAUSE_TIMEOUT, SIGSEGV, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct attempt_exit end = {.cause = cases[i].cause,
                                   .exit_code = -1,
                                   .signal = cases[i].signal};

        assert_int_equal(match_end(&rule, 1, &end), cases[i].index);
    }
}

static void test_retry__an_empty_list_is_no_retry(void **state)
{
    const struct attempt_exit ends[] = {ended(CAUSE_NODE_FAIL, -1),
                                        ended(CAUSE_LOST, -1),
                                        ended(CAUSE_EXIT, 75)};
    struct job_spec spec = {.retries = NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const struct retry_evidence evidence = {.end = &ends[i]};

        spec.is_tried_once = false;
        assert_int_equal(retry_match(&spec, &evidence), 0);
        spec.is_tried_once = true;
        assert_int_equal(retry_match(&spec, &evidence), -1);
    }
}

/* Two rules: the first by a log's text, the second for every exit. */
struct log_rules {
    struct regex *regex;
    struct retry_rule rules[2];
};

static void log_rules_init(struct log_rules *log, const char *pattern)
{
    log->regex = regex_create(pattern, REGEX_TEXT, NULL);
    assert_non_null(log->regex);
    log->rules[0] = (struct retry_rule){.logs = &log->regex, .log_count = 1};
    log->rules[1] = (struct retry_rule){.causes = 1u << CAUSE_EXIT};
}

static int match_log(struct log_rules *log, enum attempt_cause cause,
                     const char *text, size_t length)
{
    const struct attempt_exit end = ended(cause, 1);
    const struct retry_evidence evidence = {&end, text, length};
    const struct job_spec spec = {.retries = log->rules, .retry_count = 2};

    return retry_match(&spec, &evidence);
}

static void test_retry__matches_what_the_log_says(void **state)
{
    static const char binary[] = "step 1\0\xff\r\nNCCL: a timeout\r\nbye\n";
    static const char apart[] = "NCCL\nand a timeout\n";
    struct log_rules log;

    (void)state;
    log_rules_init(&log, "^NCCL.*timeout$");
    assert_int_equal(match_log(&log, CAUSE_EXIT, binary, sizeof(binary) - 1),
                     0);
    assert_int_equal(match_log(&log, CAUSE_EXIT, apart, sizeof(apart) - 1), 1);
    assert_int_equal(match_log(&log, CAUSE_EXIT, NULL, 0), 1);
    regex_destroy(log.regex);
}

static void test_retry__a_log_says_nothing_of_a_lost_machine(void **state)
{
    static const char text[] = "timeout";
    struct log_rules log;

    (void)state;
    log_rules_init(&log, "timeout");
    assert_int_equal(match_log(&log, CAUSE_SIGNAL, text, 7), 0);
    assert_int_equal(match_log(&log, CAUSE_NO_METRIC, text, 7), 0);
    assert_int_equal(match_log(&log, CAUSE_LOST, text, 7), 2);
    assert_int_equal(match_log(&log, CAUSE_NODE_FAIL, text, 7), 2);
    assert_int_equal(match_log(&log, CAUSE_LAUNCH_ERROR, text, 7), -1);
    assert_int_equal(match_log(&log, CAUSE_OK, text, 7), -1);
    regex_destroy(log.regex);
}

static void test_retry__the_log_is_wanted_only_where_it_decides(void **state)
{
    struct attempt_exit failed = ended(CAUSE_EXIT, 1);
    struct attempt_exit lost = ended(CAUSE_LOST, -1);
    struct attempt_exit ok = ended(CAUSE_OK, 0);
    struct retry_rule turned[2];
    struct log_rules log;

    (void)state;
    log_rules_init(&log, "x");
    assert_true(retry_wants_log(log.rules, 2, &failed));
    assert_false(retry_wants_log(log.rules, 2, &lost));
    assert_false(retry_wants_log(log.rules, 2, &ok));
    turned[0] = log.rules[1];
    turned[1] = log.rules[0];
    assert_false(retry_wants_log(turned, 2, &failed));
    regex_destroy(log.regex);
}

static void test_retry__a_regex_that_explodes_is_given_up(void **state)
{
    enum { LENGTH = 256 << 10 };
    char *text = mem_alloc(LENGTH);
    struct log_rules log;

    (void)state;
    memset(text, 'a', LENGTH);
    log_rules_init(&log, "(a+)+b|(a*)*c");
    assert_int_equal(match_log(&log, CAUSE_EXIT, text, LENGTH), 1);
    regex_destroy(log.regex);
    free(text);
}

/* ---- resources ---- */

static void scale(const struct retry_rule *rule, struct resources *resources,
                  const char *expected)
{
    const struct retry_machine machine = {.cpus = 6, .gpus = 2};
    struct buf text = BUF_INIT;

    retry_scale(rule, &machine, resources, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_retry__scales_up_to_the_cap(void **state)
{
    struct retry_rule rule = {.scale = {.memory = 1.5, .time = 2},
                              .cap = {.memory_bytes = 4 << 20}};
    struct resources has = {.memory_bytes = 2 << 20, .time_ms = 1000};

    (void)state;
    scale(&rule, &has, "memory 3.0 MiB, time 2.0 s");
    scale(&rule, &has, "memory 4.0 MiB (the cap), time 4.0 s");
    scale(&rule, &has, "memory 4.0 MiB (the cap), time 8.0 s");
    assert_true(has.memory_bytes == 4 << 20 && has.time_ms == 8000);
}

static void test_retry__scales_up_to_the_machine(void **state)
{
    struct retry_rule rule = {.scale = {.cpus = 1.5, .gpus = 2}};
    struct resources has = {.cpus = 3, .gpus = 1};

    (void)state;
    scale(&rule, &has, "5 CPUs, 2 GPUs");
    scale(&rule, &has,
          "6 CPUs (all of the machine), 2 GPUs (all of the machine)");
    assert_true(has.cpus == 6 && has.gpus == 2);
    rule.cap.cpus = 4; /* an earlier rule has gone beyond: it stays */
    scale(&rule, &has, "6 CPUs (the cap), 2 GPUs (all of the machine)");
}

static void test_retry__scales_to_what_ranks_can_share(void **state)
{
    static const struct {
        struct resources has;
        struct resource_scale scale;
        struct resources cap;
        int cpus, gpus; /* then */
    } cases[] = {
        /* each rank as many CPUs, each node as many GPUs */
        {{.nodes = 1, .tasks = 4, .divides_cpus = true, .cpus = 4},
         {.cpus = 1.5},
         {0},
         8,
         0},
        {{.nodes = 2, .tasks = 2, .gpus = 2}, {.gpus = 1.5}, {0}, 0, 4},
        {{.nodes = 2, .tasks = 4, .divides_cpus = true, .cpus = 8, .gpus = 4},
         {.cpus = 1.1, .gpus = 1.1},
         {0},
         12,
         6},
        /* each rank its own GPUs, or several of them one */
        {{.nodes = 1, .tasks = 2, .gpus = 2, .splits_gpus = true},
         {.gpus = 1.5},
         {0},
         0,
         4},
        {{.nodes = 1, .tasks = 4, .gpus = 2, .splits_gpus = true},
         {.gpus = 1.5},
         {0},
         0,
         4},
        /* below the cap, and never less than before */
        {{.nodes = 1, .tasks = 4, .divides_cpus = true, .cpus = 8},
         {.cpus = 2},
         {.cpus = 15},
         12,
         0},
        {{.nodes = 1, .tasks = 4, .divides_cpus = true, .cpus = 8},
         {.cpus = 2},
         {.cpus = 9},
         8,
         0},
        /* what was not even stays as it is asked for */
        {{.nodes = 1, .tasks = 2, .divides_cpus = true, .cpus = 3},
         {.cpus = 1.5},
         {0},
         5,
         0},
        /* one machine's ranks may have what its file could ask for */
        {{.tasks = 4, .cpus = 4}, {.cpus = 1.5}, {0}, 6, 0},
        {{.tasks = 4, .cpus = 4}, {.cpus = 2}, {.cpus = 6}, 6, 0},
    };
    static const struct retry_machine any = {0, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct retry_rule rule = {.scale = cases[i].scale, .cap = cases[i].cap};
        struct resources has = cases[i].has;
        struct buf text = BUF_INIT;

        retry_scale(&rule, &any, &has, &text);
        buf_clear(&text);
        if (has.cpus != cases[i].cpus || has.gpus != cases[i].gpus)
            fail_msg("case %zu: %d CPUs, %d GPUs", i, has.cpus, has.gpus);
    }
}

static void test_retry__scales_none_beyond_a_cap_of_one(void **state)
{
    struct retry_rule rule = {.scale = {.cpus = 2, .gpus = 2},
                              .cap = {.cpus = 1, .gpus = 1}};
    struct resources has = {.cpus = 1, .gpus = 1};

    (void)state;
    scale(&rule, &has, "1 CPU (the cap), 1 GPU (the cap)");
}

static void test_retry__scales_nothing_that_is_not_there(void **state)
{
    struct retry_rule all = {.scale = {2, 2, 2, 2}}, none = {.max = 1};
    struct resources has = {.cpus = 0};

    (void)state;
    scale(&all, &has, "");
    has = (struct resources){.cpus = 1, .memory_bytes = 1};
    scale(&none, &has, "");
    assert_true(has.cpus == 1 && has.memory_bytes == 1);
}

static void test_retry__scaling_ends_somewhere(void **state)
{
    struct retry_rule rule = {.scale = {1000, 1000, 1000, 1000}};
    const struct retry_machine endless = {0, 0};
    struct resources has = {.cpus = 1, .memory_bytes = 1, .time_ms = 1};
    struct buf text = BUF_INIT;

    (void)state;
    for (int i = 0; i < 1000; i++)
        retry_scale(&rule, &endless, &has, &text);
    assert_int_equal(has.cpus, INT_MAX);
    assert_true(has.memory_bytes == INT64_C(1) << 53);
    assert_true(has.time_ms == INT64_C(1) << 53);
    buf_clear(&text);
}

static void test_retry__delays_grow_up_to_their_cap(void **state)
{
    static const int64_t expected_ms[] = {5000, 10000, 20000, 30000, 30000};
    struct retry_rule rule = {
        .delay_ms = 5000, .backoff = 2, .max_delay_ms = 30000};

    (void)state;
    for (int64_t nth = 1; nth <= 5; nth++)
        assert_int_equal(retry_delay_ms(&rule, nth, 0.25),
                         expected_ms[nth - 1]);
    rule.jitter = JITTER_FULL;
    assert_int_equal(retry_delay_ms(&rule, 3, 0.25), 5000);
    assert_int_equal(retry_delay_ms(&rule, 3, 0.0), 0);
}

static void test_retry__a_huge_number_of_retries_stays_finite(void **state)
{
    struct retry_rule rule = {.delay_ms = 1000, .backoff = 10};

    (void)state;
    assert_true(retry_delay_ms(&rule, 1000, 0.0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry__what_was_displaced_is_none_twenty_times),
        cmocka_unit_test(test_retry__a_shortage_has_a_bound_of_its_own),
        cmocka_unit_test(
            test_retry__a_rule_may_name_cancelled_and_no_other_matches),
        cmocka_unit_test(test_retry__the_first_rule_that_matches_decides),
        cmocka_unit_test(test_retry__exit_75_asks_for_itself),
        cmocka_unit_test(test_retry__matches_signals_by_number),
        cmocka_unit_test(test_retry__an_empty_list_is_no_retry),
        cmocka_unit_test(test_retry__matches_what_the_log_says),
        cmocka_unit_test(test_retry__a_log_says_nothing_of_a_lost_machine),
        cmocka_unit_test(test_retry__the_log_is_wanted_only_where_it_decides),
        cmocka_unit_test(test_retry__a_regex_that_explodes_is_given_up),
        cmocka_unit_test(test_retry__scales_up_to_the_cap),
        cmocka_unit_test(test_retry__scales_up_to_the_machine),
        cmocka_unit_test(test_retry__scales_to_what_ranks_can_share),
        cmocka_unit_test(test_retry__scales_none_beyond_a_cap_of_one),
        cmocka_unit_test(test_retry__scales_nothing_that_is_not_there),
        cmocka_unit_test(test_retry__scaling_ends_somewhere),
        cmocka_unit_test(test_retry__delays_grow_up_to_their_cap),
        cmocka_unit_test(test_retry__a_huge_number_of_retries_stays_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
