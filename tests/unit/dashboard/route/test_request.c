/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"

static void find(struct request *request, const char *target)
{
    static const struct route routes[] = {
        {.method = "GET",
         .path = "/runs/{run}/jobs/{job}",
         .queries =
             {{.name = "name"},
              {.name = "limit", .type = QUERY_INT, .max = 100, .fallback = "7"},
              {.name = "since", .type = QUERY_INT, .max = 100}}},
        {0}};
    const struct route *const tables[] = {routes, NULL};

    *request = (struct request){.role = ROLE_VIEWER};
    assert_int_equal(
        match_find(tables, "GET", target, &request->match, &request->err), 200);
}

static void test_request__says_what_was_asked(void **state)
{
    struct request request;

    (void)state;
    find(&request, "/runs/3/jobs/14?name=loss");
    assert_int_equal(request_id(&request, 0), 3);
    assert_int_equal(request_id(&request, 1), 14);
    assert_string_equal(request_text(&request, "name"), "loss");
    assert_int_equal(request_int(&request, "limit"), 7);
    assert_string_equal(request_text(&request, "limit"), "7");
    assert_int_equal(request_role(&request), ROLE_VIEWER);
    assert_null(request_body(&request));
    match_clear(&request.match);
}

static void test_request__has_nothing_where_nothing_was_said(void **state)
{
    struct request request;

    (void)state;
    find(&request, "/runs/3/jobs/14");
    assert_null(request_text(&request, "name"));
    assert_null(request_text(&request, "since"));
    assert_int_equal(request_int(&request, "since"), 0);
    /* What the route does not take is like what was left out. */
    assert_null(request_text(&request, "until"));
    assert_int_equal(request_int(&request, "until"), 0);
    match_clear(&request.match);
}

static void test_answer__is_json_on_one_line(void **state)
{
    struct answer answer = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(answer_json(&answer, json_pack("{s:i}", "run", 3), &err),
                     0);
    assert_string_equal(answer.type, "application/json");
    assert_int_equal(answer.bytes->length, strlen("{\"run\":3}\n"));
    assert_memory_equal(answer.bytes->data, "{\"run\":3}\n",
                        answer.bytes->length);
    answer_clear(&answer);
    assert_null(answer.bytes);
    assert_null(answer.type);
}

static void test_answer__is_none_of_what_could_not_be_made(void **state)
{
    struct answer answer = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(answer_json(&answer, NULL, &err), -1);
    assert_int_equal(answer_block(&answer, NULL), -1);
    assert_null(answer.bytes);
    assert_null(answer.type);
    assert_int_equal(answer_block(&answer, blob_of_static("SMTC", 4)), 0);
    assert_string_equal(answer.type, "application/octet-stream");
    answer_clear(&answer);
}

static void test_answer__names_the_kind_of_an_error(void **state)
{
    static const struct {
        int status;
        const char *kind;
    } cases[] = {{400, "bad_request"},
                 {404, "not_found"},
                 {503, "shortage"},
                 {500, "failed"},
                 {418, "failed"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer answer = {0};
        const char *kind, *text;
        json_t *json;

        assert_int_equal(answer_error(&answer, cases[i].status, "a \"b\""), 0);
        assert_int_equal(answer.status, cases[i].status);
        json = json_parse(answer.bytes->data, answer.bytes->length, NULL);
        assert_non_null(json);
        assert_int_equal(json_unpack(json, "{s:{s:s, s:s}}", "error", "kind",
                                     &kind, "text", &text),
                         0);
        assert_string_equal(kind, cases[i].kind);
        assert_string_equal(text, "a \"b\"");
        json_decref(json);
        answer_clear(&answer);
    }
}

static void test_answer__has_so_many_headers(void **state)
{
    static const char *const names[] = {"A", "B", "C", "D", "E"};
    struct answer answer = {0};

    (void)state;
    assert_int_equal(ARRAY_LEN(names), ANSWER_HEADERS_MAX + 1);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        answer_header(&answer, names[i], "%zu", i);
    for (size_t i = 0; i < ANSWER_HEADERS_MAX; i++) {
        assert_string_equal(answer.headers[i].name, names[i]);
        assert_int_equal(strtol(answer.headers[i].value, NULL, 10), (int)i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__says_what_was_asked),
        cmocka_unit_test(test_request__has_nothing_where_nothing_was_said),
        cmocka_unit_test(test_answer__is_json_on_one_line),
        cmocka_unit_test(test_answer__is_none_of_what_could_not_be_made),
        cmocka_unit_test(test_answer__names_the_kind_of_an_error),
        cmocka_unit_test(test_answer__has_so_many_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
