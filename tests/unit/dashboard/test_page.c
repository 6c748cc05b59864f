/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/page.h"

#include "tests/unit/dashboard/serve_test.h"

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
        STORE_TEST(test_page__is_what_lies_at_the_root),
        STORE_TEST(test_page__is_compressed_for_who_takes_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
