/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "dashboard/route/match.h"

static const struct route routes[] = {
    {.method = "GET", .path = "/runs"},
    {.method = "GET",
     .path = "/runs/{run}",
     .queries =
         {{.name = "since", .type = QUERY_INT, .max = 1000, .fallback = "7"},
          {.name = "from", .type = QUERY_INT, .min = -10, .max = 10},
          {.name = "name"},
          {.name = "order", .fallback = "best"}}},
    {.method = "POST", .path = "/runs/{run}"},
    {0}};
static const struct route more_routes[] = {
    {.method = "GET", .path = "/runs/{run}/jobs/{job}/attempts/{attempt}/log"},
    {.method = "POST", .path = "/stop"},
    {.method = "GET",
     .path = "/eight",
     .queries = {{.name = "one"},
                 {.name = "two"},
                 {.name = "three"},
                 {.name = "four"},
                 {.name = "five"},
                 {.name = "six"},
                 {.name = "seven"},
                 {.name = "eighth", .fallback = "last"}}},
    {.method = "GET", .path = "/{a}/{b}/{c}/{d}"},
    {0}};
static const struct route *const tables[] = {routes, more_routes, NULL};

static int find(const char *method, const char *target, struct match *match,
                struct err *err)
{
    *err = (struct err){0};
    return match_find(tables, method, target, match, err);
}

static void assert_status(const char *method, const char *target, int status)
{
    struct match match;
    struct err err;
    int got = find(method, target, &match, &err);

    if (got != status)
        fail_msg("%s %s: %d, not %d: %s", method, target, got, status,
                 err.text);
    if (status == 400 && (err.text[0] == '\0' || err.kind != ERR_USAGE))
        fail_msg("%s: no words", target);
    match_clear(&match);
}

static void test_match__finds_ids_in_order(void **state)
{
    struct match match;
    struct err err;

    (void)state;
    assert_int_equal(find("GET",
                          "/runs/12/jobs/3/attempts/999999999999999999/log?",
                          &match, &err),
                     200);
    assert_ptr_equal(match.route, &more_routes[0]);
    assert_int_equal(match.ids[0], 12);
    assert_int_equal(match.ids[1], 3);
    assert_int_equal(match.ids[2], 999999999999999999);
    match_clear(&match);
}

static void test_match__takes_whole_numbers_over_0_alone(void **state)
{
    static const char *const bad[] = {
        "/runs/0",   "/runs/01", "/runs/-1",
        "/runs/+1",  "/runs/1x", "/runs/",
        "/runs//",   "/runs/1/", "/runs/%31",
        "/runs/1.0", "/runs/ 1", "/runs/0x1",
        "//runs/1",  "/runs/1#", "/runs/{run}",
        "",          "runs",     "/runs/1/2",
        "*",         "/run",     "/runs/1000000000000000000000000",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_status("GET", bad[i], 404);
    assert_status("GET", "/runs/1", 200);
    assert_status("HEAD", "/runs/1", 200);
}

static void test_match__says_what_may_be_done(void **state)
{
    struct match match;
    struct err err;

    (void)state;
    assert_int_equal(find("PUT", "/runs/1", &match, &err), 405);
    assert_string_equal(match.allow, "GET, HEAD, POST");
    match_clear(&match);
    assert_int_equal(find("HEAD", "/stop", &match, &err), 405);
    assert_string_equal(match.allow, "POST");
    match_clear(&match);
    assert_status("get", "/runs", 405);
    assert_status("GET", "/stop?x=1", 405);
}

static void test_match__reads_queries(void **state)
{
    struct match match;
    struct err err;

    (void)state;
    assert_int_equal(
        find("GET", "/runs/1?name=a%20b+c%c3%a9%26&&from=-10", &match, &err),
        200);
    assert_string_equal(match.texts[2], "a b c\xc3\xa9&");
    assert_int_equal(match.ints[1], -10);
    assert_int_equal(match.ints[0], 7);
    assert_string_equal(match.texts[0], "7");
    assert_string_equal(match.texts[3], "best");
    match_clear(&match);

    assert_int_equal(find("GET", "/runs/1?since=0&name", &match, &err), 200);
    assert_int_equal(match.ints[0], 0);
    assert_string_equal(match.texts[2], "");
    assert_null(match.texts[1]);
    match_clear(&match);
}

static void test_match__has_room_for_so_much(void **state)
{
    struct match match;
    struct err err;

    (void)state;
    assert_int_equal(find("GET", "/eight?one=1", &match, &err), 200);
    assert_string_equal(match.texts[0], "1");
    assert_null(match.texts[6]);
    assert_string_equal(match.texts[7], "last");
    match_clear(&match);
    assert_int_equal(find("GET", "/eight?eigth=1", &match, &err), 400);
    assert_non_null(strstr(err.text, "eighth"));
    match_clear(&match);
    assert_status("GET", "/1/2/3/4", 404);
}

static void test_match__refuses_other_queries(void **state)
{
    static const char *const bad[] = {
        "/runs/1?nam=x",
        "/runs/1?name=a&name=b",
        "/runs/1?=",
        "/runs/1?name=%",
        "/runs/1?name=%0",
        "/runs/1?name=%zz",
        "/runs/1?name=%zzabc",
        "/runs/1?name=%0g",
        "/runs/1?name=%7f",
        "/runs/1?since=%2b1",
        "/runs/1?name=%00",
        "/runs/1?name=%0a",
        "/runs/1?name=%ff",
        "/runs/1?name=%c3",
        "/runs/1?since=",
        "/runs/1?since",
        "/runs/1?since=-1",
        "/runs/1?since=1001",
        "/runs/1?since=1x",
        "/runs/1?since=+1",
        "/runs/1?since=%201",
        "/runs/1?since=1.0",
        "/runs/1?from=-11",
        "/runs/1?%00=1",
        "/runs?a",
        "/runs/1?since=99999999999999999999",
    };
    struct match match;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_status("GET", bad[i], 400);
    assert_int_equal(find("GET", "/runs/1?sinc=1", &match, &err), 400);
    assert_non_null(strstr(err.text, "since"));
    match_clear(&match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match__finds_ids_in_order),
        cmocka_unit_test(test_match__takes_whole_numbers_over_0_alone),
        cmocka_unit_test(test_match__says_what_may_be_done),
        cmocka_unit_test(test_match__reads_queries),
        cmocka_unit_test(test_match__has_room_for_so_much),
        cmocka_unit_test(test_match__refuses_other_queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
