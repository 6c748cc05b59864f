/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: uv_now MHD_lookup_connection_value */
#include "dashboard/http/http.h"

#include <microhttpd.h>

#include "tests/unit/dashboard/http/http_test.h"

/* What a server is asked, and says, and which bodies it takes. */

/* A header that the server does not get to see; NULL: none. */
static const char *hidden;

const char *__real_MHD_lookup_connection_value(struct MHD_Connection *mhd,
                                               enum MHD_ValueKind kind,
                                               const char *name);
const char *__wrap_MHD_lookup_connection_value(struct MHD_Connection *mhd,
                                               enum MHD_ValueKind kind,
                                               const char *name);
const char *__wrap_MHD_lookup_connection_value(struct MHD_Connection *mhd,
                                               enum MHD_ValueKind kind,
                                               const char *name)
{
    if (hidden != NULL && strcmp(name, hidden) == 0)
        return NULL;
    return __real_MHD_lookup_connection_value(mhd, kind, name);
}

/* ---- what is asked, and answered ---- */

static void check_request(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    size_t length = 1;

    assert_string_equal(http_method(exchange), "GET");
    assert_string_equal(http_target(exchange), "/a%20b?c=%41&d=+");
    assert_string_equal(http_header(exchange, "x-one"), "1");
    assert_null(http_header(exchange, "X-None"));
    assert_false(http_header_repeats(exchange, "X-None"));
    assert_false(http_header_repeats(exchange, "X-One"));
    assert_true(http_header_repeats(exchange, "X-Two"));
    assert_string_equal(http_body(exchange, &length), "");
    assert_int_equal(length, 0);
    http_reply(exchange,
               &(struct http_reply){
                   .status = 200,
                   .type = "text/plain",
                   .bytes = blob_of_static("hello", 5),
                   .headers = {{"X-Three", "3"}, {NULL, NULL}, {"X-Four", "4"}},
               });
    (void)fixture;
}

static void test_http__shows_what_is_asked_and_sends_the_answer(void **state)
{
    static const char *const lines[] = {
        "HTTP/1.1 200 OK\r\n",
        "\r\nX-Three: 3\r\n",
        "\r\nX-Four: 4\r\n",
        "\r\nContent-Type: text/plain\r\n",
        "\r\nX-Content-Type-Options: nosniff\r\n",
        "\r\nContent-Security-Policy: default-src 'none'; ",
        "\r\nContent-Length: 5\r\n",
        "\r\n\r\nhello",
    };
    struct fixture fixture;
    char *answer;
    int fd;

    (void)state;
    set_up(&fixture, check_request);
    fd = must_ask(&fixture, "GET /a%20b?c=%41&d=+ HTTP/1.1\r\n" LINES
                            "X-One: 1\r\nX-Two: 2\r\nx-two: 2\r\n\r\n");
    answer = read_until(&fixture, fd, "hello");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (strstr(answer, lines[i]) == NULL)
            fail_msg("no '%s' in %s", lines[i], answer);
    }
    assert_int_equal(fixture.asked, 1);
    assert_int_equal(fixture.status, 0);
    free(answer);
    close(fd);
    tear_down(&fixture);
}

static void test_http__answers_without_content(void **state)
{
    struct fixture fixture;
    char *answer;
    int fd;

    (void)state;
    set_up(&fixture, say_status);
    fd = must_ask(&fixture, LAST);
    answer = read_until(&fixture, fd, NULL);
    assert_non_null(strstr(answer, "HTTP/1.1 204 "));
    assert_null(strstr(answer, "\r\nContent-Type:"));
    assert_string_equal(answer + strlen(answer) - 4, "\r\n\r\n");
    free(answer);
    close(fd);
    tear_down(&fixture);
}

/* ---- bodies ---- */

/* A request with a body of that many bytes, all 'b'; the caller's to free. */
static char *with_body(size_t length)
{
    struct buf text = BUF_INIT;

    buf_printf(&text,
               "POST / HTTP/1.1\r\n" LINES
               "Connection: close\r\nContent-Length: %zu\r\n\r\n",
               length);
    for (size_t i = 0; i < length; i++)
        buf_add_char(&text, 'b');
    return buf_take(&text);
}

static void check_longest(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    size_t length;
    const char *body = http_body(exchange, &length);

    assert_int_equal(length, HTTP_BODY_MAX_BYTES);
    assert_int_equal(strspn(body, "b"), HTTP_BODY_MAX_BYTES);
    say_status(fixture, exchange);
}

static void test_http__takes_a_body_up_to_its_limit(void **state)
{
    char *text = with_body(HTTP_BODY_MAX_BYTES);
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, check_longest);
    fd = must_ask(&fixture, text);
    must_read(&fixture, fd, "HTTP/1.1 204 ");
    close(fd);
    free(text);
    tear_down(&fixture);
}

static void check_no_body(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    size_t length;

    assert_string_equal(http_body(exchange, &length), "");
    assert_int_equal(length, 0);
    say_status(fixture, exchange);
}

/* Libmicrohttpd refuses some of them before the handler is asked: which, and
 * whether by 400 or by 501, depends on its version. */
static void test_http__refuses_bodies_by_what_is_said_of_them(void **state)
{
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        {"Content-Length: 65537", 413},
        {"Content-Length: 18446744073709551615", 413},
        {"Content-Length: 0\r\nContent-Length: 2", 400},
        {"Content-Length: 2\r\nContent-Length: 2", 400},
        {"Transfer-Encoding: chunked", 411},
        {"Transfer-Encoding: gzip", 411},
        {"Content-Length: 2\r\nTransfer-Encoding: chunked", 411},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = mem_printf("POST / HTTP/1.1\r\n" LINES
                                "%s\r\nConnection: close\r\n\r\n",
                                cases[i].headers);
        char *line = mem_printf("HTTP/1.1 %d ", cases[i].status), *answer;
        struct fixture fixture;
        int fd;

        set_up(&fixture, check_no_body);
        fd = must_ask(&fixture, text);
        answer = read_until(&fixture, fd, NULL);
        if (fixture.asked == 1)
            assert_int_equal(fixture.status, cases[i].status);
        if (strstr(answer, line) != answer &&
            (fixture.asked != 0 || (strstr(answer, "HTTP/1.1 4") != answer &&
                                    strstr(answer, "HTTP/1.1 501 ") != answer)))
            fail_msg("%s: %s", cases[i].headers, answer);
        close(fd);
        free(answer);
        free(text);
        free(line);
        tear_down(&fixture);
    }
}

/* What is no length at all, or no request, does not get as far. */
static void test_http__is_not_asked_by_what_is_no_request(void **state)
{
    static const char *const requests[] = {
        "POST / HTTP/1.1\r\n" LINES "Content-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES "Content-Length:\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES "Content-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES "Content-Length: 2x\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES
        "Content-Length: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET \r\n\r\n",
        "GET\r\n\r\n",
    };
    struct fixture fixture;

    (void)state;
    set_up(&fixture, say_status);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        int fd = must_ask(&fixture, requests[i]);
        char *answer;

        shutdown(fd, SHUT_WR);
        answer = read_until(&fixture, fd, NULL);
        if (answer[0] != '\0' && strstr(answer, "HTTP/1.1 4") != answer)
            fail_msg("%s: %s", requests[i], answer);
        free(answer);
        close(fd);
    }
    assert_int_equal(fixture.asked, 0);
    tear_down(&fixture);
}

static void check_no_path(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    assert_int_not_equal(http_target(exchange)[0], '/');
    say_status(fixture, exchange);
}

/* libmicrohttpd 1.0 takes it for a request, of a page that nobody has. */
static void test_http__takes_a_missing_target_for_no_path(void **state)
{
    struct fixture fixture;
    char *answer;
    int fd;

    (void)state;
    set_up(&fixture, check_no_path);
    fd = must_ask(&fixture,
                  "GET  HTTP/1.1\r\n" LINES "Connection: close\r\n\r\n");
    answer = read_until(&fixture, fd, NULL);
    if (strstr(answer, fixture.asked == 0 ? "HTTP/1.1 4" : "HTTP/1.1 204 ") !=
        answer)
        fail_msg("%s", answer);
    free(answer);
    close(fd);
    tear_down(&fixture);
}

/* What comes is counted as well as what is said. */
static void test_http__ends_a_body_that_goes_beyond_its_limit(void **state)
{
    char *text = with_body(HTTP_BODY_MAX_BYTES + 40000);
    struct fixture fixture;
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    size_t sent = 0;
    ssize_t length;
    int fd;

    (void)state;
    set_up(&fixture, say_status);
    hidden = "Content-Length";
    fd = must_connect(&fixture);
    do {
        length = send(fd, text + sent, strlen(text) - sent, MSG_NOSIGNAL);
        sent += length > 0 ? (size_t)length : 0;
        run(&fixture, end_ms);
    } while (text[sent] != '\0' && (length > 0 || errno == EAGAIN));
    must_end(&fixture, fd);
    hidden = NULL;
    assert_int_equal(fixture.asked, 0);
    free(text);
    tear_down(&fixture);
}

static void test_http__hears_of_a_refused_body_once(void **state)
{
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, NULL);
    fd = must_ask(&fixture,
                  "POST / HTTP/1.1\r\n" LINES "Content-Length: 70000\r\n\r\n"
                  "some of it");
    run_until(&fixture, fixture.asked == 1);
    say(&fixture, fd, "and more");
    say_status(&fixture, fixture.exchanges[0]);
    must_read(&fixture, fd, "HTTP/1.1 413 ");
    must_end(&fixture, fd);
    assert_int_equal(fixture.asked, 1);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http__shows_what_is_asked_and_sends_the_answer),
        cmocka_unit_test(test_http__answers_without_content),
        cmocka_unit_test(test_http__takes_a_body_up_to_its_limit),
        cmocka_unit_test(test_http__refuses_bodies_by_what_is_said_of_them),
        cmocka_unit_test(test_http__is_not_asked_by_what_is_no_request),
        cmocka_unit_test(test_http__takes_a_missing_target_for_no_path),
        cmocka_unit_test(test_http__ends_a_body_that_goes_beyond_its_limit),
        cmocka_unit_test(test_http__hears_of_a_refused_body_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
