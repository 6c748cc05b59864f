/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/base_url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"

static struct base_url *must_parse(const char *text)
{
    struct err err = {0};
    struct base_url *base = base_url_parse(text, &err);

    if (base == NULL)
        fail_msg("%s", err.text);
    return base;
}

static void test_base_url__is_as_browsers_write_it(void **state)
{
    static const struct {
        const char *text, *read, *path;
    } rows[] = {
        {"http://h", "http://h", ""},
        {"HTTPS://Hub.Example.org:443/", "https://hub.example.org", ""},
        {"http://h:80/a", "http://h/a", "/a"},
        {"https://h:80/a", "https://h:80/a", "/a"},
        {"http://h:08420/A/b//", "http://h:8420/A/b", "/A/b"},
        {"https://[FD00::1]:9/x", "https://[fd00::1]:9/x", "/x"},
        {"https://h/user/you%40x.org/proxy/8420/",
         "https://h/user/you%40x.org/proxy/8420",
         "/user/you%40x.org/proxy/8420"},
        {"http://h/apis/s", "http://h/apis/s", "/apis/s"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct base_url *base = must_parse(rows[i].text);

        assert_string_equal(base_url_text(base), rows[i].read);
        assert_string_equal(base_url_path(base), rows[i].path);
        assert_int_equal(base_url_is_https(base), rows[i].read[4] == 's');
        base_url_destroy(base);
    }
}

static void test_base_url__refuses_others(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "must begin with http://"},
        {"/node/h/80", "must begin with http://"},
        {"ftp://h/", "must begin with http://"},
        {"https:///a", "no host name"},
        {"https://[]/a", "no host name"},
        {"https://you@h/a", "invalid character in the host name"},
        {"https://h:/a", "port"},
        {"https://h:0/a", "port"},
        {"https://h:65536/a", "port"},
        {"https://h:80x/a", "invalid character in the host name"},
        {"https://h/a?b", "without '?'"},
        {"https://h/a#b", "without '?'"},
        {"https://h/a b", "invalid path"},
        {"https://h/a;b", "invalid path"},
        {"https://h/a,b", "invalid path"},
        {"https://h/a%4", "invalid path"},
        {"https://h/\xc3\xa4", "invalid path"},
        {"https://h/a\r\nb", "invalid path"},
        {"https://h//a", "invalid path"},
        {"https://h/a/../b", "invalid path"},
        {"https://h/./b", "invalid path"},
        {"https://h/api", "begins with '/api'"},
        {"https://h/login/x", "begins with '/login'"},
        {"https://h/metrics", "begins with '/metrics'"},
        {"https://h/s/x", "begins with '/s'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};

        if (base_url_parse(rows[i].text, &err) != NULL)
            fail_msg("'%s' was read", rows[i].text);
        assert_int_equal(err.kind, ERR_USAGE);
        if (strstr(err.text, rows[i].why) == NULL)
            fail_msg("%s", err.text);
    }
}

static void test_base_url__has_a_bound(void **state)
{
    char *path = mem_zero(BASE_URL_MAX_BYTES + 1), *text;
    struct err err = {0};

    (void)state;
    memset(path, 'a', BASE_URL_MAX_BYTES - strlen("http://h/"));
    text = mem_printf("http://h/%s", path);
    base_url_destroy(must_parse(text));
    free(text);
    text = mem_printf("http://h/a%s", path);
    assert_null(base_url_parse(text, &err));
    assert_non_null(strstr(err.text, "at most 256"));
    free(text);
    free(path);
}

static void test_base_url__has_its_own_host_alone(void **state)
{
    static const char *const ours[] = {"hub.org", "HUB.org:443"};
    static const char *const others[] = {
        "hub.org:80", "hub.org:", "hub.org:443x", "xhub.org", "hub.orgx",
        "hub.org.",   "",         ":443",         "you:443"};
    struct base_url *plain = must_parse("https://hub.org/you");
    struct base_url *with_port = must_parse("http://h:8000/you");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        assert_true(base_url_has_host(plain, ours[i]));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(base_url_has_host(plain, others[i]));
    assert_true(base_url_has_host(with_port, "h:8000"));
    assert_false(base_url_has_host(with_port, "h"));
    assert_false(base_url_has_host(with_port, "h:80"));
    base_url_destroy(plain);
    base_url_destroy(with_port);
}

static void test_base_url__may_name_a_host(void **state)
{
    static const char *const others[] = {
        "n12.org",           "n12.org:842",  "n12.org:08420",
        "12.org:8420",       "org:8420",     ":8420",
        "node/n12.org:8420", "hub.org:8420", "n12.org:8420x"};
    struct base_url *base = must_parse("https://hub.org/node/n12.org/8420");
    struct base_url *none = must_parse("https://hub.org/8420");

    (void)state;
    assert_true(base_url_names_host(base, "n12.org:8420", 8420));
    assert_true(base_url_names_host(base, "N12.org:8420", 8420));
    assert_false(base_url_names_host(base, "n12.org:8420", 8421));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(base_url_names_host(base, others[i], 8420));
    assert_false(base_url_names_host(none, ":8420", 8420));
    base_url_destroy(base);
    base_url_destroy(none);
}

static void test_base_url__has_its_origin_alone(void **state)
{
    struct base_url *base = must_parse("https://hub.org:8443/you");

    (void)state;
    assert_true(base_url_has_origin(base, "https://hub.org:8443"));
    assert_false(base_url_has_origin(base, "https://hub.org:8443/"));
    assert_false(base_url_has_origin(base, "https://hub.org:844"));
    assert_false(base_url_has_origin(base, "https://hub.org"));
    assert_false(base_url_has_origin(base, "http://hub.org:8443"));
    assert_false(base_url_has_origin(base, "https://hub.org:8443/you"));
    assert_false(base_url_has_origin(base, ""));
    base_url_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_url__is_as_browsers_write_it),
        cmocka_unit_test(test_base_url__refuses_others),
        cmocka_unit_test(test_base_url__has_a_bound),
        cmocka_unit_test(test_base_url__has_its_own_host_alone),
        cmocka_unit_test(test_base_url__may_name_a_host),
        cmocka_unit_test(test_base_url__has_its_origin_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
