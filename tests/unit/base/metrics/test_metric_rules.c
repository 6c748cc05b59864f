/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules name metrics, by themselves or by a regex. */
#include "base/metrics/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/base/metrics/metrics_test.h"

static void test_metrics__without_rules_nothing_is_read(void **state)
{
    static const char text[] = "a=1\nstep=2 a=2";

    (void)state;
    assert_reads_by(NULL, text, strlen(text), "");
    metric_reader_destroy(NULL);
}

static void test_metrics__rules_name_what_is_wanted(void **state)
{
    static const struct metric_rule list[] = {
        {"error", NULL},
        {"loss", "val loss ([^ ]+)"},
        {"top", "(?<step>\\d+)/\\d+ top (?<value>\\S+)"},
        {"epoch", NULL},
        {"odd", "(?<step>\\w+) odd (?<value>\\S+)"},
        {"opt", "opt(?: (x)|( y))"},
        {"few", "few=(\\d*)"},
    };
    static const struct example examples[] = {
        {"val_error=0.1 error=0.2 Error=0.3", "error@1=0.2"},
        {"val loss 0.5 acc=1 val loss 0.6", "loss@1=0.5"},
        {"epoch=4 val loss 0.5", "epoch@4=4 loss@4=0.5"},
        {"7/10 top 0.9", "top@7=0.9"},
        {"99999999999999999999/1 top 0.9", "top@1=0.9"},
        {"first odd 1\n2 odd 3", "odd@1=1 odd@2=3"},
        {"val loss 0.5%", ""},
        {"val loss nan\nval loss -inf", "loss@1=nan loss@2=-inf"},
        {"opt y opt x", ""},
        {"few= many", ""},
        {"few=3", "few@1=3"},
        {"{\"error\":0.5,\"loss\":1,\"epoch\":2}", "error@2=0.5 epoch@2=2"},
    };
    struct metric_rules *rules =
        metric_rules_create(list, ARRAY_LEN(list), NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(examples); i++)
        assert_reads_by(rules, examples[i].text, strlen(examples[i].text),
                        examples[i].expected);
    metric_rules_destroy(rules);
}

static void test_metrics__a_regex_follows_the_step_above(void **state)
{
    static const struct metric_rule list[] = {{"loss", "val loss (\\S+)"}};
    static const char text[] = "Epoch 3/9\nval loss 0.5\nEpoch 4/9\n"
                               "[rank 1] val loss 7\nval loss 0.4\n";
    struct metric_rules *rules =
        metric_rules_create(list, ARRAY_LEN(list), NULL);

    (void)state;
    assert_reads_by(rules, text, strlen(text), "loss@3=0.5 loss@4=0.4");
    metric_rules_destroy(rules);
}

static void test_metrics__a_bad_regex_is_told_with_its_place(void **state)
{
    static const struct {
        const char *regex;
        int column;
        const char *part;
    } cases[] = {
        {"loss=(", 7, "missing closing parenthesis"},
        {"loss=[0-9", 10, "missing terminating ]"},
        {"loss=[0-9.]+", 1, "no group"},
        {"(?<step>\\d+)", 1, "no group"},
        {"(*UTF)x(.)", 7, "bad regular expression"},
        {"(a\\Cb)", 5, "bad regular expression"},
        {"((ab|cd){60000})", 0, "too large"}, /* PCRE2 10.47: 1, not 17 */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct metric_rule rules[] = {{"a", NULL}, {"b", cases[i].regex}};
        struct err err;

        assert_null(metric_rules_create(rules, 2, &err));
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s: %s", cases[i].regex, err.text);
        assert_int_equal(err.kind, ERR_FILE);
        assert_int_equal(err.line, 2);
        if (cases[i].column != 0 && err.column != cases[i].column)
            fail_msg("%s: column %d", cases[i].regex, err.column);
        assert_null(metric_rules_create(rules, 2, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics__without_rules_nothing_is_read),
        cmocka_unit_test(test_metrics__rules_name_what_is_wanted),
        cmocka_unit_test(test_metrics__a_regex_follows_the_step_above),
        cmocka_unit_test(test_metrics__a_bad_regex_is_told_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
