/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line that a program reports by. */
#include "base/metrics/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "tests/unit/base/metrics/metrics_test.h"

static char *report(const char *const *words, size_t n, struct err *err)
{
    char *copies[8] = {NULL};
    struct buf out = BUF_INIT;
    int rc;

    for (size_t i = 0; i < n; i++)
        copies[i] = mem_copy_string(words[i]);
    rc = metric_report_line(copies, n, &out, err);
    for (size_t i = 0; i < n; i++)
        free(copies[i]);
    if (rc == 0)
        return buf_take(&out);
    assert_int_equal(out.length, 0);
    buf_clear(&out);
    return NULL;
}

static void test_metrics__a_report_is_read_back(void **state)
{
    static const char *const words[] = {
        "loss=0.2", "step=3",      "val/acc=1e-3", "a=nan",
        "b=inf",    "c=-Infinity", "n=12",         "m=1e300",
    };
    struct err err;
    char *line = report(words, ARRAY_LEN(words), &err);

    (void)state;
    assert_string_equal(line, "{\"loss\":0.2,\"step\":3,\"val/acc\":0.001,"
                              "\"a\":\"nan\",\"b\":\"inf\",\"c\":\"-inf\","
                              "\"n\":12,\"m\":1e+300}\n");
    assert_reads(line, "loss@3=0.2 val/acc@3=0.001 a@3=nan b@3=inf c@3=-inf "
                       "n@3=12 m@3=1e+300");
    free(line);
}

static void test_metrics__a_bad_report_names_the_word(void **state)
{
    static const struct {
        const char *words[2];
        size_t count;
        const char *part;
    } cases[] = {
        {{"loss"}, 1, "'loss': expected NAME=NUMBER"},
        {{"a=1", ""}, 2, "'': expected NAME=NUMBER"},
        {{"=1"}, 1, "'' is not a valid name"},
        {{"9a=1"}, 1, "'9a' is not a valid name"},
        {{"a b=1"}, 1, "'a b' is not a valid name"},
        {{"a=x"}, 1, "'x' is not a number, in 'a=x'"},
        {{"a="}, 1, "'' is not a number"},
        {{"a=1 "}, 1, "'1 ' is not a number"},
        {{"a=0x10"}, 1, "'0x10' is not a number"},
        {{"a=1", "a=2"}, 2, "duplicate metric 'a'"},
        {{"a=1", "step=1.5"}, 2, "whole number from 0, not '1.5'"},
        {{"a=1", "step=-1"}, 2, "whole number from 0, not '-1'"},
        {{"a=1", "step=1e300"}, 2, "whole number from 0, not '1e300'"},
        {{"step=1"}, 1, "missing metric"},
        {{NULL}, 0, "missing metric"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;

        assert_null(report(cases[i].words, cases[i].count, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("%s, not %s", err.text, cases[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics__a_report_is_read_back),
        cmocka_unit_test(test_metrics__a_bad_report_names_the_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
