/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_BASE_METRICS_METRICS_TEST_H
#define SMTUNE_TESTS_UNIT_BASE_METRICS_METRICS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/metrics/metrics.h"
#include "base/value.h"

/* Texts, and the metrics that a reader finds in them. */

static inline void note(void *user, const struct metric_point *point)
{
    struct buf *out = user;
    char step[32], number[32];

    value_format_real(point->step, step, sizeof(step));
    value_format_real(point->value, number, sizeof(number));
    buf_printf(out, "%s%s@%s=%s", out->length > 0 ? " " : "", point->name, step,
               number);
}

/* "loss@1=0.5 acc@1=0.9", fed in two pieces. */
static inline char *read_split(struct metric_rules *rules, const char *text,
                               size_t length, size_t at)
{
    struct metric_reader *reader = metric_reader_create(rules, 0);
    struct buf out = BUF_INIT;

    metric_reader_feed(reader, text, at, note, &out);
    metric_reader_feed(reader, text + at, length - at, note, &out);
    metric_reader_finish(reader, true, note, &out);
    metric_reader_destroy(reader);
    return buf_take(&out);
}

static inline void assert_reads_by(struct metric_rules *rules, const char *text,
                                   size_t length, const char *expected)
{
    for (size_t at = 0; at <= length; at++) {
        char *actual = read_split(rules, text, length, at);

        if (strcmp(actual, expected) != 0)
            fail_msg("%s\nin pieces of %zu and %zu gave\n%s\nnot\n%s", text, at,
                     length - at, actual, expected);
        free(actual);
    }
}

static inline void assert_reads(const char *text, const char *expected)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);

    assert_reads_by(rules, text, strlen(text), expected);
    metric_rules_destroy(rules);
}

struct example {
    const char *text, *expected;
};

static inline void assert_examples(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_reads(examples[i].text, examples[i].expected);
}

#endif
