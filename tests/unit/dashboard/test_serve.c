/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/serve.h"

#include "dashboard/dashboard_impl.h"
#include "dashboard/page.h"
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

/* Each run but the first fails in another way. */
static json_t *make_run(void *user, struct store *store, int64_t run,
                        struct err *err)
{
    static const enum err_kind kinds[] = {ERR_NOT_FOUND, ERR_USAGE, ERR_BUSY,
                                          ERR_SHORTAGE, ERR_FAILED};

    (void)user;
    assert_non_null(store);
    if (run == 1)
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

static const char *token_of(const struct fixture *fixture, enum who who)
{
    return strstr(dashboard_login_url(fixture->dashboard, who == OPERATOR),
                  "token=") +
           strlen("token=");
}

/* The answer to a request, with '@' for the token of who asks; the caller's to
 * free. */
static char *ask(struct fixture *fixture, enum who who, const char *request)
{
    const char *at = strchr(request, '@');
    char *text = at == NULL
                     ? mem_copy_string(request)
                     : mem_printf("%.*s%s%s", (int)(at - request), request,
                                  token_of(fixture, who), at + 1);
    int fd = must_connect(fixture);
    char *answer;

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    free(text);
    answer = read_to(fixture, fd, NULL);
    close(fd);
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
#define COOKIE "Cookie: smtune-0=@\r\n"
#define JSON   "Content-Type: application/json\r\n"
#define EMPTY  "Content-Length: 2\r\n\r\n{}"

#define GET(path, headers) "GET " path " HTTP/1.1\r\n" HOST headers "\r\n"
#define POST(headers)      "POST /api/v1/runs/1/note HTTP/1.1\r\n" HOST headers EMPTY

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
        {GET("/api/v1/session", COOKIE), OPERATOR, 200, "operator"},
        {POST(BEARER JSON), VIEWER, 403, "a viewer cannot act"},
        {POST(BEARER JSON), OPERATOR, 200,
         "{\"run\":1,\"did\":\"note\",\"with\":{}}"},
        {GET("/login?token=@", ""), VIEWER, 303, "\r\nSet-Cookie: smtune-0="},
        {GET("/login?token=x", ""), NOBODY, 401, "not_logged_in"},
        {GET("/login", ""), NOBODY, 401, "not_logged_in"},
    };

    check_all(*state, cases, ARRAY_LEN(cases));
}

static void test_serve__asks_which_page_asks(void **state)
{
#define SESSION(header) GET("/api/v1/session", COOKIE header "\r\n")
    static const struct request_case cases[] = {
        {SESSION("Sec-Fetch-Site: same-origin"), VIEWER, 200, NULL},
        {SESSION("Sec-Fetch-Site: none"), VIEWER, 200, NULL},
        {SESSION("Sec-Fetch-Site: same-site"), VIEWER, 403, "another page"},
        {SESSION("Sec-Fetch-Site: cross-site"), VIEWER, 403, "another page"},
        {SESSION("Origin: http://localhost"), VIEWER, 200, NULL},
        {SESSION("Origin: http://evil"), VIEWER, 403, "another page"},
        {SESSION("Origin: null"), VIEWER, 403, "another page"},
        /* A link leads here from anywhere. */
        {GET("/login?token=@", "Sec-Fetch-Site: cross-site\r\n"), VIEWER, 303,
         NULL},
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
        {POST(COOKIE JSON), OPERATOR, 403, "missing header 'Origin'"},
        {POST(COOKIE JSON "Origin: http://localhost\r\n"), OPERATOR, 200, NULL},
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

/* ---- the page ---- */

static void test_page__is_what_lies_at_the_root(void **state)
{
    static const struct request_case cases[] = {
        {GET("/", ""), NOBODY, 200, "\r\n\r\n<p>hello</p>\n"},
        {GET("/?x=1", ""), NOBODY, 200, "\r\n\r\n<p>hello</p>\n"},
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
        STORE_TEST(test_serve__asks_which_page_asks),
        STORE_TEST(test_serve__takes_what_is_to_be_done_as_json),
        STORE_TEST(test_serve__does_nothing_where_there_is_nobody_to),
        STORE_TEST(test_serve__knows_what_is_kept),
        STORE_TEST(test_serve__says_that_the_store_is_gone),
        STORE_TEST(test_page__is_what_lies_at_the_root),
        STORE_TEST(test_page__is_compressed_for_who_takes_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
