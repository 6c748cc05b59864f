/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/serve.h"

#include "tests/unit/dashboard/serve_test.h"

/* What each request is refused for. */

static void test_serve__answers_what_is_sent_to_it(void **state)
{
    static const struct request_case cases[] = {
        {GET("/api/v1/session", BEARER), VIEWER, 200, "\"role\":\"viewer\""},
        {"GET /api/v1/session HTTP/1.0\r\n" BEARER "\r\n", VIEWER, 421,
         "wrong_host"},
        {"GET /api/v1/session HTTP/1.1\r\nHost: evil\r\nConnection: "
         "close\r\n" BEARER "\r\n",
         VIEWER, 421, "wrong_host"},
        /* libmicrohttpd 1.0 refuses this one by itself. */
        {GET("/api/v1/session", BEARER "Host: localhost\r\n"), VIEWER, 400,
         NULL},
        {GET("/api/v1/session", BEARER "Authorization: Bearer x\r\n"), VIEWER,
         400, "duplicate header"},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void test_serve__finds_what_is_asked_for(void **state)
{
    static const struct request_case cases[] = {
        {GET("/nothing", BEARER), VIEWER, 404, "not_found"},
        {GET("/api/v1/session?x=1", BEARER), VIEWER, 400, "takes no query"},
        {"PUT /api/v1/runs/1/note HTTP/1.1\r\n" HOST BEARER "\r\n", OPERATOR,
         405, "\r\nAllow: POST\r\n"},
        {GET("/api/v1/runs/1", BEARER), VIEWER, 200, "{\"made\":\"a run\"}"},
        {GET("/api/v1/runs/1/origin", BEARER), VIEWER, 200,
         "{\"made\":\"a run\"}"},
        {GET("/api/v1/runs/2/origin", BEARER), VIEWER, 404, "run 2 has failed"},
        {GET("/api/v1/runs/2", BEARER), VIEWER, 404, "run 2 has failed"},
        {GET("/api/v1/runs/3", BEARER), VIEWER, 400, "run 3 has failed"},
        {GET("/api/v1/runs/4", BEARER), VIEWER, 409, "run 4 has failed"},
        {GET("/api/v1/runs/5", BEARER), VIEWER, 503, "run 5 has failed"},
        {GET("/api/v1/runs/6", BEARER), VIEWER, 500, "run 6 has failed"},
        {GET("/api/v1/runs/1/jobs/1/attempts/1/log", BEARER), VIEWER, 200,
         "\r\nX-Smtune-Size: 0\r\n"},
        {"HEAD /api/v1/events HTTP/1.1\r\n" HOST BEARER "\r\n", VIEWER, 200,
         "\r\nContent-Type: text/event-stream\r\n"},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void test_serve__asks_who_asks(void **state)
{
    static const struct request_case cases[] = {
        {GET("/api/v1/session", ""), NOBODY, 401,
         "\r\nWWW-Authenticate: Bearer\r\n"},
        {GET("/s/^/api/v1/session", COOKIE), OPERATOR, 200, "operator"},
        {GET("/s/^/api/v1/session", COOKIE), VIEWER, 200, "viewer"},
        {POST(BEARER JSON), VIEWER, 403, "a viewer cannot act"},
        {POST(BEARER JSON), OPERATOR, 200,
         "{\"run\":1,\"did\":\"note\",\"with\":{}}"},
        {POST_TO("/s/^" NOTE, COOKIE JSON "Origin: http://localhost\r\n"),
         VIEWER, 403, "a viewer cannot act"},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

/* The cookie alone is nothing, and no token is in it. */
static void test_serve__takes_a_cookie_in_its_session_only(void **state)
{
    static const struct request_case cases[] = {
        {GET("/api/v1/session", COOKIE), OPERATOR, 401, "not_logged_in"},
        {GET("/api/v1/session", "Authorization: Bearer ~\r\n"), OPERATOR, 401,
         NULL},
        {GET("/api/v1/session", "Cookie: smtune=@\r\n"), OPERATOR, 401, NULL},
        {GET("/s/^/api/v1/session", ""), OPERATOR, 401, NULL},
        {GET("/s/^/api/v1/session", "Cookie: smtune=@\r\n"), OPERATOR, 401,
         NULL},
        /* Nor does a token count there. */
        {GET("/s/^/api/v1/session", BEARER), OPERATOR, 401, NULL},
        {GET("/s/null/api/v1/session", COOKIE), OPERATOR, 401, NULL},
        {GET("/s//api/v1/session", COOKIE), OPERATOR, 401, NULL},
        {GET("/s/~/api/v1/session", COOKIE), OPERATOR, 401, NULL},
        {GET("/s/^", COOKIE), OPERATOR, 404, NULL},
        {GET("/s/^/", COOKIE), OPERATOR, 404, NULL},
        {GET("/s/^?/api/v1/session", COOKIE), OPERATOR, 404, NULL},
        {GET("/s/^/s/^/api/v1/session", COOKIE), OPERATOR, 404, NULL},
        {GET("/s/^/index.html", COOKIE), OPERATOR, 404, NULL},
        {GET("/s/^/api/v1/runs/1", COOKIE), VIEWER, 200, "a run"},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void test_serve__asks_which_page_asks(void **state)
{
#define SESSION(header) GET("/s/^/api/v1/session", COOKIE header "\r\n")
    static const struct request_case cases[] = {
        {SESSION("Sec-Fetch-Site: same-origin"), VIEWER, 200, NULL},
        {SESSION("Sec-Fetch-Site: none"), VIEWER, 200, NULL},
        {SESSION("Sec-Fetch-Site: same-site"), VIEWER, 403, "another page"},
        {SESSION("Sec-Fetch-Site: cross-site"), VIEWER, 403, "another page"},
        {SESSION("Origin: http://localhost"), VIEWER, 200, NULL},
        {SESSION("Origin: http://evil"), VIEWER, 403, "another page"},
        {SESSION("Origin: null"), VIEWER, 403, "another page"},
    };
#undef SESSION

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void test_serve__takes_what_is_to_be_done_as_json(void **state)
{
#define TYPED(type) POST(BEARER "Content-Type: " type "\r\n")
#define BODY(length, body)                                                     \
    "POST /api/v1/runs/1/note HTTP/1.1\r\n" HOST BEARER JSON                   \
    "Content-Length: " length "\r\n\r\n" body
    static const struct request_case cases[] = {
        {POST_TO("/s/^" NOTE, COOKIE JSON), OPERATOR, 403,
         "missing header 'Origin'"},
        {POST_TO("/s/^" NOTE, COOKIE JSON BEARER), OPERATOR, 403,
         "missing header 'Origin'"},
        {POST_TO("/s/^" NOTE, COOKIE JSON ORIGIN), OPERATOR, 200, NULL},
        {POST(BEARER), OPERATOR, 415, "bad_type"},
        {TYPED("text/plain"), OPERATOR, 415, "bad_type"},
        {TYPED("application/jsonx"), OPERATOR, 415, "bad_type"},
        {TYPED("application/json;charset=utf-8"), OPERATOR, 200, NULL},
        {TYPED("application/json ; charset=utf-8"), OPERATOR, 200, NULL},
        {TYPED("APPLICATION/JSON"), OPERATOR, 200, NULL},
        {BODY("1", "{"), OPERATOR, 400, "bad_request"},
        {BODY("2", "[]"), OPERATOR, 400, "the body must be a JSON object"},
        {BODY("70000", "{"), OPERATOR, 413, "at most 64 KiB"},
        {"GET /api/v1/session HTTP/1.1\r\n" HOST BEARER EMPTY, VIEWER, 400,
         "a GET request takes no body"},
    };
#undef TYPED
#undef BODY

    check_all(*state, cases, ARRAY_LEN(cases));
}

static const struct dashboard_source source_of_nothing = {
    .run_state = run_state, .run = make_run};

static void test_serve__does_nothing_where_there_is_nobody_to(void **state)
{
    static const struct request_case one = {POST(BEARER JSON), OPERATOR, 501,
                                            "not_offered"};
    struct fixture fixture;

    set_up(&fixture, *state, &source_of_nothing);
    check(&fixture, &one);
    tear_down(&fixture);
}

/* What a client has already is not sent again. */
static void test_serve__knows_what_is_kept(void **state)
{
    static const struct {
        const char *before;
        bool is_named; /* the tag follows */
        int status;
    } known[] = {{"*", false, 304},
                 {"", true, 304},
                 {"\"a\", ", true, 304},
                 {"\"a\", \"b\"", false, 200}};
    struct fixture fixture;
    char *answer, *tag;

    set_up(&fixture, *state, &source);
    answer = ask(&fixture, VIEWER, GET("/api/v1/openapi.json", BEARER));
    assert_non_null(strstr(answer, "\r\nCache-Control: private, no-cache\r\n"));
    tag = strstr(answer, "\r\nETag: ");
    assert_non_null(tag);
    tag = mem_printf("%.66s", tag + strlen("\r\nETag: "));
    assert_int_equal(tag[65], '"');
    free(answer);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        char *request =
            mem_printf("GET /api/v1/openapi.json HTTP/1.1\r\n" HOST BEARER
                       "If-None-Match: %s%s\r\n\r\n",
                       known[i].before, known[i].is_named ? tag : "");

        check(&fixture,
              &(struct request_case){request, VIEWER, known[i].status, tag});
        free(request);
    }
    free(tag);
    tear_down(&fixture);
}

static void test_serve__says_that_the_store_is_gone(void **state)
{
    static const struct request_case one = {GET("/api/v1/runs/1", BEARER),
                                            VIEWER, 404, "\"error\""};
    char *path = fs_join(*state, "smtune.db");
    char *other = fs_join(*state, "other.db");
    struct store *stores[16];
    struct fixture fixture;
    struct err err = {0};
    size_t count = 0;

    set_up(&fixture, *state, &source);
    /* Those that are open would still do. */
    assert_int_equal(rename(path, other), 0);
    while ((stores[count] = dashboard_take_store(fixture.dashboard, &err)) !=
           NULL) {
        count++;
        assert_true(count < ARRAY_LEN(stores));
    }
    check(&fixture, &one);
    assert_int_equal(rename(other, path), 0);
    while (count > 0)
        dashboard_give_back_store(fixture.dashboard, stores[--count]);
    check(&fixture, &(struct request_case){one.request, VIEWER, 200, "made"});
    free(path);
    free(other);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_serve__answers_what_is_sent_to_it),
        STORE_TEST(test_serve__finds_what_is_asked_for),
        STORE_TEST(test_serve__asks_who_asks),
        STORE_TEST(test_serve__takes_a_cookie_in_its_session_only),
        STORE_TEST(test_serve__asks_which_page_asks),
        STORE_TEST(test_serve__takes_what_is_to_be_done_as_json),
        STORE_TEST(test_serve__does_nothing_where_there_is_nobody_to),
        STORE_TEST(test_serve__knows_what_is_kept),
        STORE_TEST(test_serve__says_that_the_store_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
