/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/metrics.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

/*
 * The output of real frameworks (tests/golden/logs/README.md), read without a
 * key of the file. NAME.points has the resource, the metric, and the curve as
 * the framework's own history has it; a log has fewer digits.
 */

enum { POINTS_MAX = 200, LINE_MAX_LENGTH = 256 };

struct curve {
    char resource[LINE_MAX_LENGTH], metric[LINE_MAX_LENGTH];
    double steps[POINTS_MAX], values[POINTS_MAX];
    size_t count;
};

/* As the store keeps them: the last value of each step. */
static void put(struct curve *curve, double step, double value)
{
    size_t at = 0;

    while (at < curve->count && curve->steps[at] != step)
        at++;
    assert_true(at < POINTS_MAX);
    curve->steps[at] = step;
    curve->values[at] = value;
    curve->count += at == curve->count;
}

static void note(void *user, const struct metric_point *point)
{
    struct curve *curve = user;

    if (strcmp(point->name, curve->metric) == 0)
        put(curve, point->step, point->value);
}

static void read_expected(const char *path, struct curve *curve)
{
    char line[LINE_MAX_LENGTH];
    FILE *file = fopen(path, "r");
    double step, value;

    assert_non_null(file);
    memset(curve, 0, sizeof(*curve));
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "resource ", 9) == 0)
            memcpy(curve->resource, line + 9, strlen(line + 9) + 1);
        else if (strncmp(line, "metric ", 7) == 0)
            memcpy(curve->metric, line + 7, strlen(line + 7) + 1);
        else if (sscanf(line, "%lf %lf", &step, &value) == 2)
            put(curve, step, value);
    }
    fclose(file);
    assert_true(curve->count > 0);
}

static void read_log(const char *path, struct curve *curve)
{
    struct metric_rules *rules = metric_rules_create(NULL, 0, NULL);
    struct metric_reader *reader;
    FILE *file = fopen(path, "r");
    char chunk[100];
    size_t length;

    assert_non_null(file);
    metric_rules_ask(rules, curve->metric);
    metric_rules_set_resource(rules, curve->resource);
    reader = metric_reader_create(rules, 0);
    while ((length = fread(chunk, 1, sizeof(chunk), file)) > 0)
        metric_reader_feed(reader, chunk, length, note, curve);
    metric_reader_finish(reader, true, note, curve);
    fclose(file);
    metric_reader_destroy(reader);
    metric_rules_destroy(rules);
}

static void compare(const char *path, const struct curve *expected,
                    const struct curve *found)
{
    if (found->count != expected->count)
        fail_msg("%s: %zu points of '%s', not %zu", path, found->count,
                 found->metric, expected->count);
    for (size_t i = 0; i < expected->count; i++)
        if (found->steps[i] != expected->steps[i] ||
            fabs(found->values[i] - expected->values[i]) >
                0.005 * fabs(expected->values[i]) + 0.005)
            fail_msg("%s: step %g is %g, not step %g with %g", path,
                     found->steps[i], found->values[i], expected->steps[i],
                     expected->values[i]);
}

static void test_golden_logs__have_the_curve_that_the_framework_knows(
    void **state)
{
    glob_t files;

    (void)state;
    assert_int_equal(glob("tests/golden/logs/*.points", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 15);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        char *log =
            mem_printf("%.*slog", (int)(strlen(path) - strlen("points")), path);
        struct curve expected, found;

        read_expected(path, &expected);
        memset(&found, 0, sizeof(found));
        memcpy(found.resource, expected.resource, sizeof(found.resource));
        memcpy(found.metric, expected.metric, sizeof(found.metric));
        read_log(log, &found);
        compare(log, &expected, &found);
        free(log);
    }
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_golden_logs__have_the_curve_that_the_framework_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
