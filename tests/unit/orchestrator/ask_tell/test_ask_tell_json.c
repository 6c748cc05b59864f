/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What programs may ask a session for, and what is said of the rest. */
#include "orchestrator/ask_tell/ask_tell_json.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"

/* As JSON; or the error. */
static void assert_parsed(const char *line, const char *expected)
{
    struct err err;
    json_t *request = ask_tell_parse(line, strlen(line), &err);
    struct buf out = BUF_INIT;

    if (request != NULL)
        json_print(request, &out);
    else
        buf_printf(&out, "%s", err.text);
    if (strncmp(buf_text(&out), expected, strlen(expected)) != 0)
        fail_msg("%s: %s", line, buf_text(&out));
    buf_clear(&out);
    json_decref(request);
}

static void test_request__is_an_object(void **state)
{
    static const struct {
        const char *line, *expected;
    } cases[] = {
        {"{\"op\": \"ask\"}", "{\"op\":\"ask\"}"},
        {"[1]", "type mismatch: a request is an object with \"op\""},
        {"1", "type mismatch: a request is an object with \"op\""},
        {"", "not valid JSON: unexpected token near end of file"},
        {"{\"a\": NaN, \"b\": [Infinity, -Infinity]}",
         "{\"a\":null,\"b\":[null,null]}"},
        {"{\"a\": \"NaN \\\" NaN\", \"b\": NaN}",
         "{\"a\":\"NaN \\\" NaN\",\"b\":null}"},
        {"{\"a\": NaN, \"b\": \"\\",
         "not valid JSON: invalid token near 'NaN'"},
        {"{\"a\": Nan}", "not valid JSON: invalid token near 'Nan'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_parsed(cases[i].line, cases[i].expected);
}

/* ---- its parts, each of which a case tells of the request ---- */

typedef int read_fn(const json_t *request, struct buf *out, struct err *err);

static int read_flag(const json_t *request, struct buf *out, struct err *err)
{
    bool flag = true;
    int result = ask_tell_read_flag(request, "k", &flag, err);

    buf_printf(out, "%s", flag ? "yes" : "no");
    return result;
}

static int read_count(const json_t *request, struct buf *out, struct err *err)
{
    int64_t count = 3;
    int result = ask_tell_read_count(request, "k", 10, &count, err);

    buf_printf(out, "%d", (int)count);
    return result;
}

static int read_text(const json_t *request, struct buf *out, struct err *err)
{
    const char *text = ask_tell_read_text(request, "k", err);

    buf_printf(out, "%s", text != NULL ? text : "");
    return text != NULL ? 0 : -1;
}

static int read_id(const json_t *request, struct buf *out, struct err *err)
{
    int64_t id = 0;
    int result = ask_tell_read_id(request, &id, err);

    buf_printf(out, "%d", (int)id);
    return result;
}

static int read_state(const json_t *request, struct buf *out, struct err *err)
{
    enum job_state state = JOB_SUCCEEDED;
    int result = session_read_state(request, &state, err);

    buf_add_string(out, job_state_names[state]);
    return result;
}

static int read_values(const json_t *request, struct buf *out, struct err *err,
                       size_t count)
{
    double values[2] = {0, 0};
    int result = ask_tell_read_values(request, values, count, err);

    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%g ", values[i]);
    return result;
}

static int read_one(const json_t *request, struct buf *out, struct err *err)
{
    return read_values(request, out, err, 1);
}

static int read_two(const json_t *request, struct buf *out, struct err *err)
{
    return read_values(request, out, err, 2);
}

static int read_no_limits(const json_t *request, struct buf *out,
                          struct err *err)
{
    (void)out;
    return ask_tell_read_constraints(request, NULL, 0, err);
}

static int read_limit(const json_t *request, struct buf *out, struct err *err)
{
    double limit = 0;
    int result = ask_tell_read_constraints(request, &limit, 1, err);

    buf_printf(out, "%g", limit);
    return result;
}

static void test_request__has_parts(void **state)
{
    static const struct {
        read_fn *read;
        const char *line, *expected;
    } cases[] = {
        {read_flag, "{}", "yes"},
        {read_flag, "{\"k\": true}", "yes"},
        {read_flag, "{\"k\": false}", "no"},
        {read_flag, "{\"k\": 1}",
         "type mismatch: \"k\" must be true or false, not an integer"},
        {read_flag, "{\"k\": null}",
         "type mismatch: \"k\" must be true or false, not null"},
        {read_count, "{}", "3"},
        {read_count, "{\"k\": 10}", "10"},
        {read_count, "{\"k\": 0}",
         "out of range: \"k\" must be from 1 to 10, not 0"},
        {read_count, "{\"k\": 11}",
         "out of range: \"k\" must be from 1 to 10, not 11"},
        {read_count, "{\"k\": 1.5}",
         "type mismatch: \"k\" must be an integer, not a real number"},
        {read_text, "{\"k\": \"t\"}", "t"},
        {read_text, "{}", "missing key \"k\""},
        {read_text, "{\"k\": {}}",
         "type mismatch: \"k\" must be a text, not an object"},
        {read_id, "{\"id\": 4}", "4"},
        {read_id, "{}", "missing key \"id\""},
        {read_id, "{\"id\": \"4\"}",
         "type mismatch: \"id\" must be an integer, not a text"},
        {read_state, "{}", "succeeded"},
        {read_state, "{\"state\": \"succeeded\"}", "succeeded"},
        {read_state, "{\"state\": \"stoped\"}",
         "unknown state 'stoped' (did you mean 'stopped'?)"},
        {read_state, "{\"state\": false}",
         "type mismatch: \"state\" must be a text, not false"},
        {read_one, "{\"value\": 2}", "2 "},
        {read_one, "{\"value\": null}", "nan "},
        {read_one, "{\"value\": \"-Inf\"}", "-inf "},
        {read_one, "{\"values\": [2.5]}", "2.5 "},
        {read_one, "{\"value\": \"two\"}",
         "type mismatch: \"value\" must be a number, not a text"},
        {read_one, "{\"value\": true}",
         "type mismatch: \"value\" must be a number, not true"},
        {read_one, "{}", "missing key \"value\""},
        {read_two, "{\"values\": [1, \"nan\"]}", "1 nan "},
        {read_two, "{\"values\": [1, []]}",
         "type mismatch: \"values\" must be a number, not a list"},
        {read_two, "{\"values\": [1]}",
         "out of range: \"values\" must have 2 numbers, not 1"},
        {read_two, "{\"values\": 1}",
         "type mismatch: \"values\" must be a list of numbers, not an integer"},
        {read_two, "{\"value\": 1}", "missing key \"values\""},
        {read_no_limits, "{}", ""},
        {read_no_limits, "{\"constraints\": []}",
         "unknown key \"constraints\": the experiment has no "
         "constraints on metrics"},
        {read_limit, "{\"constraints\": [0.5]}", "0.5"},
        {read_limit, "{}", "missing key \"constraints\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *request =
            ask_tell_parse(cases[i].line, strlen(cases[i].line), NULL);
        struct buf out = BUF_INIT;
        struct err err;

        assert_non_null(request);
        if (cases[i].read(request, &out, &err) != 0) {
            buf_truncate(&out, 0);
            buf_add_string(&out, err.text);
        }
        if (strcmp(buf_text(&out), cases[i].expected) != 0)
            fail_msg("%s: %s", cases[i].line, buf_text(&out));
        buf_clear(&out);
        json_decref(request);
    }
}

static void test_request__has_values_by_either_name(void **state)
{
    static const struct {
        const char *line;
        bool has;
    } cases[] = {
        {"{}", false}, {"{\"value\": 1}", true}, {"{\"values\": [1]}", true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *request =
            ask_tell_parse(cases[i].line, strlen(cases[i].line), NULL);

        assert_int_equal(ask_tell_has_values(request), cases[i].has);
        json_decref(request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__is_an_object),
        cmocka_unit_test(test_request__has_parts),
        cmocka_unit_test(test_request__has_values_by_either_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
