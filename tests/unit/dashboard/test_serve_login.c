/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/serve.h"

#include "dashboard/access/viewer_link.h"
#include "tests/unit/dashboard/serve_test.h"

/* How a browser is let in. */

#define LOGIN_AS(origin, length, body)                                         \
    "POST /login HTTP/1.1\r\n" HOST JSON origin "Content-Length: " length      \
    "\r\n\r\n" body

static void test_serve__lets_no_other_page_log_in(void **state)
{
    static const struct request_case cases[] = {
        {LOGIN_AS("", "12", "{\"code\":\"x\"}"), NOBODY, 403, "Origin"},
        {LOGIN_AS("Origin: http://evil\r\n", "12", "{\"code\":\"x\"}"), NOBODY,
         403, "another page"},
        {LOGIN_AS(ORIGIN "Sec-Fetch-Site: same-site\r\n", "12",
                  "{\"code\":\"x\"}"),
         NOBODY, 403, "another page"},
        {LOGIN_AS(ORIGIN, "12", "{\"code\":\"x\"}"), NOBODY, 401,
         "smtune dashboard --login"},
        {LOGIN_AS(ORIGIN, "2", "{}"), NOBODY, 400, "missing field 'code'"},
        {LOGIN_AS(ORIGIN, "10", "{\"code\":1}"), NOBODY, 400, "code"},
        {LOGIN_AS(ORIGIN, "11", "{\"code\":\"\"}"), NOBODY, 401, NULL},
        /* A link leads to the page from anywhere. */
        {GET("/login", "Sec-Fetch-Site: cross-site\r\n"), NOBODY, 200,
         "<p>hello</p>"},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void check_status(char *answer, int status)
{
    if (strtol(answer + 9, NULL, 10) != status)
        fail_msg("not %d: %s", status, answer);
    free(answer);
}

static void test_serve__logs_in_once_by_an_operators_address(void **state)
{
    struct fixture fixture;
    char *address, *old, *answer;

    set_up(&fixture, *state, &source);
    old = operator_address(&fixture, clock_monotonic_ms() - 60000);
    address = operator_address(&fixture, clock_monotonic_ms());
    answer = log_in(&fixture, address);
    check_session(&fixture, answer, 200, "\"operator\"");
    free(answer);
    check_status(log_in(&fixture, address), 401);
    check_status(log_in(&fixture, old), 401);
    free(address);
    free(old);
    tear_down(&fixture);
}

/* The server looks once a second whether it is. */
static void wait_until_withdrawn(struct fixture *fixture, const char *address)
{
    const char *code = strchr(address, '#') + 1;
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;

    while (dashboard_use_code(fixture->dashboard, code) != ROLE_ANYONE) {
        if (clock_monotonic_ms() > end_ms)
            fail_msg("'%s' is still valid", address);
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
}

static void test_serve__logs_in_by_a_viewers_address_until_then(void **state)
{
    struct fixture fixture;
    struct viewer_link *link;
    char *address, *answer, *second;

    set_up(&fixture, *state, &source);
    address =
        presence_viewer_address(dashboard_presence(fixture.dashboard), NULL);
    answer = log_in(&fixture, address);
    second = log_in(&fixture, address);
    check_session(&fixture, answer, 200, "\"viewer\"");
    check_session(&fixture, second, 200, "\"viewer\"");
    /* Another program withdraws it. */
    link = viewer_link_open(*state, NULL, NULL);
    assert_int_equal(viewer_link_replace(link, NULL), 0);
    viewer_link_close(link);
    wait_until_withdrawn(&fixture, address);
    check_status(log_in(&fixture, address), 401);
    check_session(&fixture, answer, 401, "not_logged_in");
    check_session(&fixture, second, 401, "not_logged_in");
    free(address);
    free(answer);
    free(second);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_serve__lets_no_other_page_log_in),
        STORE_TEST(test_serve__logs_in_once_by_an_operators_address),
        STORE_TEST(test_serve__logs_in_by_a_viewers_address_until_then),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
