/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/metrics/metrics.h"

static void count(void *user, const struct metric_point *point)
{
    (void)point;
    ++*(int *)user;
}

/* Whether the regex finds the metric in the log. */
static bool finds(const char *name, const char *regex, const char *log)
{
    const struct metric_rule rule = {name, regex};
    struct metric_rules *rules = metric_rules_create(&rule, 1, NULL);
    struct metric_reader *reader;
    int found = 0;

    assert_non_null(rules);
    reader = metric_reader_create(rules, 0);
    metric_reader_feed(reader, log, strlen(log), count, &found);
    metric_reader_finish(reader, true, count, &found);
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);
    return found > 0;
}

static void test_near__the_regex_finds_the_number(void **state)
{
    static const struct {
        const char *name, *log, *line;
    } cases[] = {
        {"val_loss", "start\nfinal val_loss is 0.5\nend\n",
         "final val_loss is 0.5"},
        {"val_loss", "validation_loss=0.5\n", "validation_loss=0.5"},
        {"val_loss", "val_los: 0.5", "val_los: 0.5"},
        {"val_loss", "loss_val=1\nVAL LOSS (mean) = 0.5\n",
         "VAL LOSS (mean) = 0.5"},
        {"val_loss", "validation loss is now 0.5\n",
         "validation loss is now 0.5"},
        {"val_loss", "(Validation-Loss ~ 0.5)\n", "(Validation-Loss ~ 0.5)"},
        {"val_loss", "valid loss is 2\nvalidation_loss=0.5\n",
         "validation_loss=0.5"},
        {"accuracy", "acc is about 0.5\n", "acc is about 0.5"},
        {"loss", "\tloss is 1\n", "loss is 1"},
        {"acc", "\033[1macc\033[0m is now 93%\n", "acc is now 93%"},
        {"loss", "a [b] {loss}* -> +1e-3\n", "a [b] {loss}* -> +1e-3"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct metric_near near;

        if (!metric_near_find(cases[i].name, cases[i].log, strlen(cases[i].log),
                              &near))
            fail_msg("%s: nothing is near", cases[i].log);
        assert_string_equal(near.line, cases[i].line);
        if (!finds(cases[i].name, near.regex, cases[i].log))
            fail_msg("%s: %s", cases[i].log, near.regex);
    }
}

static void test_near__a_step_is_not_the_value(void **state)
{
    static const struct {
        const char *log, *regex;
    } cases[] = {
        {"the loss after epoch 3 was 0.5\n",
         "loss\\s+after\\s+epoch\\s+\\d+\\s+was\\s+([-+.0-9eE]+)"},
        {"loss (step #12) is 2\n",
         "loss\\s+\\(step\\s+#\\d+\\)\\s+is\\s+([-+.0-9eE]+)"},
    };
    struct metric_near near;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(metric_near_find("loss", cases[i].log, strlen(cases[i].log),
                                     &near));
        assert_string_equal(near.regex, cases[i].regex);
    }
    assert_false(metric_near_find("loss", "loss is 1 234,5", 15, &near));
}

static void test_near__nothing_is_near(void **state)
{
    static const char *const logs[] = {"", "\n\n", "error=1 size=2\n",
                                       "the loss function\n", "lr: 0.1"};
    struct metric_near near;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(logs); i++)
        assert_false(metric_near_find("loss", logs[i], strlen(logs[i]), &near));
}

static void test_near__a_long_line_is_cut(void **state)
{
    char log[400];
    struct metric_near near;

    (void)state;
    memset(log, 'x', sizeof(log));
    memcpy(log, "loss is 1 ", 10);
    assert_true(metric_near_find("loss", log, sizeof(log), &near));
    assert_int_equal(strlen(near.line), sizeof(near.line) - 1);
    assert_non_null(strstr(near.line, "..."));
}

static void test_near__the_sentence_has_the_rule(void **state)
{
    struct metric_near near;
    struct buf text = BUF_INIT;

    (void)state;
    assert_true(metric_near_find("loss", "loss is 1\n", 10, &near));
    buf_add_string(&text, "found: ");
    metric_near_print(&near, "loss", &text);
    assert_string_equal(buf_text(&text),
                        "found: to read it from \"loss is 1\", write metrics: "
                        "{\"loss\": 'loss\\s+is\\s+([-+.0-9eE]+)'}");
    buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near__the_regex_finds_the_number),
        cmocka_unit_test(test_near__a_step_is_not_the_value),
        cmocka_unit_test(test_near__nothing_is_near),
        cmocka_unit_test(test_near__a_long_line_is_cut),
        cmocka_unit_test(test_near__the_sentence_has_the_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
