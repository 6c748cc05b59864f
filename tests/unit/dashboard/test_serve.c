/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: guests_hold */
#include "dashboard/serve.h"

#include "dashboard/access/presence_address.h"
#include "dashboard/access/viewer_link.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/http/workers.h"
#include "dashboard/page.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/guests.h"
#include "dashboard/route/sessions.h"
#include "tests/unit/dashboard/dashboard_test.h"

/* Requests to a dashboard, and what each is refused for. */

/* ---- a page of the test's own ---- */

/* "<p>hello</p>\n", compressed, and the bytes 1 and 2. */
static const unsigned char hello[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xb3,
    0x29, 0xb0, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xb7, 0xd1, 0x2f, 0xb0,
    0xe3, 0x02, 0x00, 0xe1, 0x2d, 0xb4, 0x43, 0x0d, 0x00, 0x00, 0x00};
static const unsigned char bytes_1_2[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63,
    0x64, 0x02, 0x00, 0x92, 0x42, 0xcc, 0xb6, 0x02, 0x00, 0x00, 0x00};

const struct page_file page_files[] = {
    {"index.html", hello, hello + sizeof(hello), 13, "1234"},
    {"app.bin", bytes_1_2, bytes_1_2 + sizeof(bytes_1_2), 2, "5678"},
    {"LICENSE", bytes_1_2, bytes_1_2 + sizeof(bytes_1_2), 2, "9abc"},
    {"login.html", hello, hello + sizeof(hello), 13, "def0"},
    {0}};

/* ---- what the commands would give ---- */

static const char *run_state(void *user, const struct store *store,
                             const struct run_row *run)
{
    (void)user;
    (void)store;
    (void)run;
    return "finished";
}

/* Run 7 is made when the test lets it, in a thread that waits until then. */
enum { SLOW_RUN = 7 };
static uv_sem_t may_end;

/* Each run but the first fails in another way. */
static json_t *make_run(void *user, struct store *store, int64_t run,
                        struct err *err)
{
    static const enum err_kind kinds[] = {ERR_NOT_FOUND, ERR_USAGE, ERR_BUSY,
                                          ERR_SHORTAGE, ERR_FAILED};

    (void)user;
    assert_non_null(store);
    if (run == SLOW_RUN)
        uv_sem_wait(&may_end);
    if (run == 1 || run == SLOW_RUN)
        return json_pack("{s:s}", "made", "a run");
    assert_in_range(run, 2, 1 + ARRAY_LEN(kinds));
    err_set(err, kinds[run - 2], "run %d has failed", (int)run);
    return NULL;
}

static json_t *act(void *user, int64_t run, const char *verb,
                   const json_t *body, struct err *err)
{
    (void)user;
    (void)err;
    return json_pack("{s:I, s:s, s:O}", "run", (json_int_t)run, "did", verb,
                     "with", body);
}

static const struct dashboard_source source = {
    .run_state = run_state, .run = make_run, .act = act};
static const struct dashboard_source source_of_nothing = {
    .run_state = run_state, .run = make_run};

/* ---- requests ---- */

enum who { NOBODY, VIEWER, OPERATOR };

static enum role role_of(enum who who)
{
    return who == OPERATOR ? ROLE_OPERATOR : ROLE_VIEWER;
}

/* The answer to a request as it is; the caller's to free. */
static char *send_text(struct fixture *fixture, const char *text)
{
    int fd = must_ask(fixture, text);
    char *answer = read_to(fixture, fd, NULL);

    close(fd);
    return answer;
}

/* The text with other words for all '@', '^' and '~'; the caller's to free. */
static char *fill_in(const char *text, const char *at, const char *caret,
                     const char *tilde)
{
    struct buf out = BUF_INIT;

    for (; *text != '\0'; text++) {
        if (*text == '@')
            buf_add_string(&out, at);
        else if (*text == '^')
            buf_add_string(&out, caret);
        else if (*text == '~')
            buf_add_string(&out, tilde);
        else
            buf_add_char(&out, *text);
    }
    return buf_take(&out);
}

/* The same, with '@' for the token of who asks, and '^' and '~' for the key and
 * the secret of a session. */
static char *ask(struct fixture *fixture, enum who who, const char *request)
{
    const struct dashboard *dashboard = fixture->dashboard;
    const struct session *session =
        sessions_add(dashboard_sessions(dashboard), role_of(who));
    char *text =
        fill_in(request, auth_token(dashboard_auth(dashboard), role_of(who)),
                session->key, session->secret);
    char *answer = send_text(fixture, text);

    free(text);
    return answer;
}

struct request_case {
    const char *request;
    enum who who;
    int status;
    const char *word; /* in the answer; NULL: any */
};

static void check(struct fixture *fixture, const struct request_case *one)
{
    char *answer = ask(fixture, one->who, one->request);

    if (strncmp(answer, "HTTP/1.1 ", 9) != 0 ||
        strtol(answer + 9, NULL, 10) != one->status ||
        (one->word != NULL && strstr(answer, one->word) == NULL))
        fail_msg("not %d with '%s':\n%s\n%s", one->status,
                 one->word == NULL ? "" : one->word, one->request, answer);
    free(answer);
}

static void check_all(const char *folder, const struct request_case *cases,
                      size_t count)
{
    struct fixture fixture;

    set_up(&fixture, folder, &source);
    for (size_t i = 0; i < count; i++)
        check(&fixture, &cases[i]);
    tear_down(&fixture);
}

#define HOST   "Host: localhost\r\nConnection: close\r\n"
#define BEARER "Authorization: Bearer @\r\n"
#define COOKIE "Cookie: smtune=~\r\n"
#define JSON   "Content-Type: application/json\r\n"
#define EMPTY  "Content-Length: 2\r\n\r\n{}"

#define GET(path, headers)     "GET " path " HTTP/1.1\r\n" HOST headers "\r\n"
#define NOTE                   "/api/v1/runs/1/note"
#define POST_TO(path, headers) "POST " path " HTTP/1.1\r\n" HOST headers EMPTY
#define POST(headers)          POST_TO(NOTE, headers)

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

/* ---- logging in ---- */

#define LOGIN_AS(origin, length, body)                                         \
    "POST /login HTTP/1.1\r\n" HOST JSON origin "Content-Length: " length      \
    "\r\n\r\n" body
#define ORIGIN "Origin: http://localhost\r\n"

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

/* What is behind the # of the address, and what the server answers to it; the
 * caller's to free, as the address is. */
static char *log_in(struct fixture *fixture, char *address)
{
    const char *code = strchr(address, '#') + 1;
    char *body = mem_printf("{\"code\":\"%s\"}", code);
    char *text = mem_printf("POST /login HTTP/1.1\r\n" HOST JSON ORIGIN
                            "Content-Length: %zu\r\n\r\n%s",
                            strlen(body), body);
    char *answer = send_text(fixture, text);

    free(text);
    free(body);
    return answer;
}

/* Asks as the browser does that got this answer. */
static void check_session(struct fixture *fixture, const char *answer,
                          int status, const char *word)
{
    const char *secret = strstr(answer, "\r\nSet-Cookie: smtune=");
    const char *key = strstr(answer, "; Path=/s/");
    char *request;

    assert_non_null(secret);
    assert_non_null(key);
    assert_non_null(strstr(key, "/; HttpOnly; SameSite=Strict\r\n"));
    secret += strlen("\r\nSet-Cookie: smtune=");
    key += strlen("; Path=/s/");
    request = mem_printf("GET /s/%.*s/api/v1/session HTTP/1.1\r\n" HOST
                         "Cookie: smtune=%.*s\r\n\r\n",
                         (int)strcspn(key, "/"), key, (int)strcspn(secret, ";"),
                         secret);
    check(fixture, &(struct request_case){request, NOBODY, status, word});
    free(request);
}

static char *operator_address(const struct fixture *fixture, int64_t now_ms)
{
    return presence_operator_address(dashboard_presence(fixture->dashboard),
                                     now_ms, NULL);
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

/* ---- who is kept waiting ---- */

/* A request of a viewer, of which the answer is read later. */
static int send_slow(const struct fixture *fixture)
{
    const struct auth *auth = dashboard_auth(fixture->dashboard);
    char *text = mem_printf("GET /api/v1/runs/%d HTTP/1.1\r\n" HOST
                            "Authorization: Bearer %s\r\n\r\n",
                            SLOW_RUN, auth_token(auth, ROLE_VIEWER));
    int fd = must_ask(fixture, text);

    free(text);
    return fd;
}

/* The one that has an answer; goes on until one has. */
static size_t first_answered(struct fixture *fixture, const int *fds,
                             size_t count)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;

    for (size_t i = 0;; i = (i + 1) % count) {
        char byte;

        if (recv(fds[i], &byte, 1, MSG_PEEK) == 1)
            return i;
        assert_true(clock_monotonic_ms() < end_ms);
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
}

static void must_answer(struct fixture *fixture, int fd, const char *status,
                        const char *word)
{
    char *answer = read_to(fixture, fd, NULL);

    if (strstr(answer, status) != answer || strstr(answer, word) == NULL)
        fail_msg("not '%s' with '%s': %s", status, word, answer);
    free(answer);
    close(fd);
}

/* An operator's browser begins as anybody's. */
static void must_let_operator_in(struct fixture *fixture)
{
    static const struct request_case page[] = {
        {GET("/login", "Accept-Encoding: gzip\r\n"), NOBODY, 200, "-gz\""},
        {GET("/", "Accept-Encoding: gzip\r\n"), NOBODY, 200, "-gz\""},
        {GET("/", ""), NOBODY, 503, "too many requests of viewers"},
    };
    char *address = operator_address(fixture, clock_monotonic_ms());
    char *answer = log_in(fixture, address);

    check_session(fixture, answer, 200, "\"operator\"");
    for (size_t i = 0; i < ARRAY_LEN(page); i++)
        check(fixture, &page[i]);
    free(answer);
    free(address);
}

/* However much viewers ask, an operator is answered at once; and what is too
 * much is refused. */
static void test_serve__keeps_no_operator_waiting_for_viewers(void **state)
{
    static const struct request_case quick[] = {
        {GET("/api/v1/runs/1", BEARER), OPERATOR, 200, "made"},
        {GET("/s/^/api/v1/runs/1", COOKIE), OPERATOR, 200, "made"},
        {GET("/api/v1/runs/1", BEARER), OPERATOR, 200, "made"},
        {GET("/s/^/api/v1/runs/1", COOKIE), OPERATOR, 200, "made"},
    };
    struct fixture fixture;
    int fds[GUESTS_REQUESTS_MAX + 1];
    size_t refused;

    uv_sem_init(&may_end, 0);
    set_up(&fixture, *state, &source);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = send_slow(&fixture);
    refused = first_answered(&fixture, fds, ARRAY_LEN(fds));
    must_answer(&fixture, fds[refused], "HTTP/1.1 503 ",
                "\r\nRetry-After: 2\r\n");
    for (size_t i = 0; i < ARRAY_LEN(quick); i++)
        check(&fixture, &quick[i]);
    must_let_operator_in(&fixture);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        uv_sem_post(&may_end);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (i != refused)
            must_answer(&fixture, fds[i], "HTTP/1.1 200 ", "made");
    }
    check(&fixture,
          &(struct request_case){quick[0].request, VIEWER, 200, "made"});
    tear_down(&fixture);
    uv_sem_destroy(&may_end);
}

/* What the linker puts in place: as if viewers were being sent too much. */
static bool has_no_room;

int __real_guests_hold(struct guests *guests, struct guest *guest,
                       const struct blob *answer, struct err *err);
int __wrap_guests_hold(struct guests *guests, struct guest *guest,
                       const struct blob *answer, struct err *err);
int __wrap_guests_hold(struct guests *guests, struct guest *guest,
                       const struct blob *answer, struct err *err)
{
    return has_no_room && guest->is_counted
               ? err_set(err, ERR_SHORTAGE, "no room")
               : __real_guests_hold(guests, guest, answer, err);
}

static void test_serve__sends_viewers_so_much_at_once(void **state)
{
    static const struct request_case cases[] = {
        {GET("/api/v1/runs/1", BEARER), VIEWER, 503, "no room"},
        {GET("/api/v1/runs/1", BEARER), VIEWER, 503, "\r\nRetry-After: 2\r\n"},
        {GET("/api/v1/runs/1", BEARER), OPERATOR, 200, "made"},
        {GET("/", ""), NOBODY, 503, "no room"},
        {GET("/", "Accept-Encoding: gzip\r\n"), NOBODY, 200, "-gz\""},
    };

    has_no_room = true;
    check_all(*state, cases, ARRAY_LEN(cases));
    has_no_room = false;
}

/* It does not do first what many have asked for. */
static void test_serve__ends_without_what_waits(void **state)
{
    struct fixture fixture;
    int fds[8];
    size_t dropped;

    uv_sem_init(&may_end, 0);
    set_up(&fixture, *state, &source);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = send_slow(&fixture);
    check(&fixture, &(struct request_case){GET("/api/v1/session", BEARER),
                                           VIEWER, 200, "viewer"});
    dashboard_close(fixture.dashboard);
    dropped = first_answered(&fixture, fds, ARRAY_LEN(fds));
    must_answer(&fixture, fds[dropped], "HTTP/1.1 503 ", "is stopping");
    for (int i = 0; i < WORKERS_GUESTS_MAX; i++)
        uv_sem_post(&may_end);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture.loop), 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (i != dropped)
            close(fds[i]);
    }
    free(fixture.path);
    uv_sem_destroy(&may_end);
}

/* ---- the page ---- */

static void test_page__is_what_lies_at_the_root(void **state)
{
    static const struct request_case cases[] = {
        {GET("/", ""), NOBODY, 200, "\r\n\r\n<p>hello</p>\n"},
        {GET("/?x=1", ""), NOBODY, 200, "\r\n\r\n<p>hello</p>\n"},
        {GET("/login", ""), NOBODY, 200, "\r\n\r\n<p>hello</p>\n"},
        {GET("/login?x", ""), NOBODY, 200, "\r\n\r\n<p>hello</p>\n"},
        {GET("/loginx", ""), NOBODY, 404, NULL},
        {GET("/logim", ""), NOBODY, 404, NULL},
        {"PUT /login HTTP/1.1\r\n" HOST EMPTY, NOBODY, 405,
         "\r\nAllow: POST\r\n"},
        {GET("/index.html", ""), NOBODY, 200,
         "\r\nContent-Type: text/html; charset=utf-8\r\n"},
        {GET("/app.bin", ""), NOBODY, 200, "\r\n\r\n\x01\x02"},
        {GET("/app.bin", ""), NOBODY, 200,
         "\r\nContent-Type: application/octet-stream\r\n"},
        {GET("/LICENSE", ""), NOBODY, 200,
         "\r\nContent-Type: application/octet-stream\r\n"},
        {GET("/app.bim", ""), NOBODY, 404, NULL},
        {GET("/app.bin.gz", ""), NOBODY, 404, NULL},
        {GET("index.html", ""), NOBODY, 404, NULL},
        {GET("?x", ""), NOBODY, 404, NULL},
        {GET("*", ""), NOBODY, 404, NULL},
        {"HEAD / HTTP/1.1\r\n" HOST "\r\n", NOBODY, 200,
         "\r\nContent-Length: 13\r\n"},
        {"POST / HTTP/1.1\r\n" HOST EMPTY, NOBODY, 404, NULL},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void test_page__is_compressed_for_who_takes_that(void **state)
{
#define TAKES(list) GET("/", "Accept-Encoding: " list "\r\n")
#define PLAIN       "\r\nETag: \"1234\"\r\n"
#define GZIP        "\r\nETag: \"1234-gz\"\r\n"
    static const struct request_case cases[] = {
        {TAKES("gzip"), NOBODY, 200, GZIP},
        {TAKES("gzip"), NOBODY, 200, "\r\nContent-Encoding: gzip\r\n"},
        {TAKES("br;q=1.0, gzip;q=0.5"), NOBODY, 200, GZIP},
        {TAKES("gzip ;q=1"), NOBODY, 200, GZIP},
        {TAKES("gzip;q=0.0, br"), NOBODY, 200, PLAIN},
        {TAKES("gzip;q=0"), NOBODY, 200, PLAIN},
        {TAKES("br"), NOBODY, 200, PLAIN},
        {GET("/", ""), NOBODY, 200, PLAIN},
        {GET("/", "If-None-Match: \"1234\"\r\n"), NOBODY, 304, PLAIN},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_serve__answers_what_is_sent_to_it),
        STORE_TEST(test_serve__finds_what_is_asked_for),
        STORE_TEST(test_serve__asks_who_asks),
        STORE_TEST(test_serve__takes_a_cookie_in_its_session_only),
        STORE_TEST(test_serve__lets_no_other_page_log_in),
        STORE_TEST(test_serve__logs_in_once_by_an_operators_address),
        STORE_TEST(test_serve__logs_in_by_a_viewers_address_until_then),
        STORE_TEST(test_serve__asks_which_page_asks),
        STORE_TEST(test_serve__takes_what_is_to_be_done_as_json),
        STORE_TEST(test_serve__does_nothing_where_there_is_nobody_to),
        STORE_TEST(test_serve__knows_what_is_kept),
        STORE_TEST(test_serve__says_that_the_store_is_gone),
        STORE_TEST(test_serve__keeps_no_operator_waiting_for_viewers),
        STORE_TEST(test_serve__sends_viewers_so_much_at_once),
        STORE_TEST(test_serve__ends_without_what_waits),
        STORE_TEST(test_page__is_what_lies_at_the_root),
        STORE_TEST(test_page__is_compressed_for_who_takes_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
