/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/base_url.h"

/* For a server on that port; 0: on a socket. */
static struct auth *auth_at(int port, bool has_operator)
{
    const struct auth_place place = {.port = port,
                                     .address = port != 0 ? "127.0.0.1" : NULL};

    return auth_create(&place, has_operator);
}

static enum role role_of_token(const struct auth *auth, const char *token)
{
    char *authorization = mem_printf("Bearer %s", token);
    enum role role = auth_role(auth, authorization);

    free(authorization);
    return role;
}

static void test_auth__tokens_are_long_and_never_the_same(void **state)
{
    struct auth *one = auth_at(1, true), *other = auth_at(1, true);
    const char *token = auth_token(one, ROLE_OPERATOR);

    (void)state;
    assert_int_equal(strlen(token), 64);
    assert_int_equal(strspn(token, "0123456789abcdef"), 64);
    assert_string_not_equal(token, auth_token(one, ROLE_VIEWER));
    assert_string_not_equal(token, auth_token(other, ROLE_OPERATOR));
    assert_null(auth_token(one, ROLE_ANYONE));
    assert_int_equal(role_of_token(one, token), ROLE_OPERATOR);
    assert_int_equal(role_of_token(other, token), ROLE_ANYONE);
    auth_destroy(one);
    auth_destroy(other);
}

static void test_auth__read_only_has_no_operator(void **state)
{
    struct auth *auth = auth_at(1, false);

    (void)state;
    assert_null(auth_token(auth, ROLE_OPERATOR));
    assert_int_equal(role_of_token(auth, ""), ROLE_ANYONE);
    assert_int_equal(role_of_token(auth, auth_token(auth, ROLE_VIEWER)),
                     ROLE_VIEWER);
    auth_destroy(auth);
}

static void assert_role(const struct auth *auth, const char *format,
                        enum role role)
{
    const char *at = strchr(format, '@');
    char *authorization =
        at == NULL ? mem_copy_string(format)
                   : mem_printf("%.*s%s%s", (int)(at - format), format,
                                auth_token(auth, ROLE_VIEWER), at + 1);

    if (auth_role(auth, authorization) != role)
        fail_msg("authorization '%s'", authorization);
    free(authorization);
}

static void test_auth__reads_bearers(void **state)
{
    struct auth *auth = auth_at(8420, true);

    (void)state;
    assert_int_equal(auth_role(auth, NULL), ROLE_ANYONE);
    assert_role(auth, "Bearer @", ROLE_VIEWER);
    assert_role(auth, "bearer @", ROLE_VIEWER);
    assert_role(auth, "Bearer @ ", ROLE_ANYONE);
    assert_role(auth, "Bearer  @", ROLE_ANYONE);
    assert_role(auth, "Bearer ", ROLE_ANYONE);
    assert_role(auth, "Bearer", ROLE_ANYONE);
    assert_role(auth, "Basic @", ROLE_ANYONE);
    assert_role(auth, "@", ROLE_ANYONE);
    auth_destroy(auth);
}

static void test_auth__knows_its_own_names(void **state)
{
    static const char *const ours[] = {"127.0.0.1:8420", "localhost:8420",
                                       "LOCALHOST:8420", "[::1]:8420"};
    static const char *const others[] = {
        "",           "127.0.0.1",       "localhost",         ":8420",
        "[::1]",      "localhost:84200", "localhost:842",     "evil:8420",
        "127.0.0.1x", "localhost.:8420", "127.0.0.1:8420:80", "::1:8420",
    };
    struct auth *auth = auth_at(8420, true);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        char *origin = mem_printf("http://%s", ours[i]);

        assert_true(auth_host_is_ours(auth, ours[i]));
        assert_true(auth_origin_is_ours(auth, origin));
        assert_false(auth_origin_is_ours(auth, ours[i]));
        free(origin);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(auth_host_is_ours(auth, others[i]));
    assert_false(auth_origin_is_ours(auth, "null"));
    assert_false(auth_origin_is_ours(auth, "https://localhost:8420"));
    assert_false(auth_origin_is_ours(auth, "http://evil:8420"));
    assert_false(auth_origin_is_ours(auth, "http://localhost:8420/"));
    auth_destroy(auth);
}

static void test_auth__a_socket_has_any_port(void **state)
{
    struct auth *auth = auth_at(0, true);

    (void)state;
    assert_true(auth_host_is_ours(auth, "localhost"));
    assert_true(auth_host_is_ours(auth, "localhost:9000"));
    assert_false(auth_host_is_ours(auth, "localhost:"));
    assert_false(auth_host_is_ours(auth, "localhost:9000x"));
    assert_false(auth_host_is_ours(auth, "localhostx"));
    assert_false(auth_host_is_ours(auth, "evil:9000"));
    auth_destroy(auth);
}

static void test_auth__has_the_name_of_its_address(void **state)
{
    struct auth_place place = {.port = 8420, .address = "10.0.0.5"};
    struct auth *auth = auth_create(&place, true);

    (void)state;
    assert_true(auth_host_is_ours(auth, "10.0.0.5:8420"));
    assert_true(auth_host_is_ours(auth, "localhost:8420"));
    assert_false(auth_host_is_ours(auth, "10.0.0.5"));
    assert_false(auth_host_is_ours(auth, "10.0.0.50:8420"));
    auth_destroy(auth);
    place.address = "fd00::5";
    auth = auth_create(&place, true);
    assert_true(auth_host_is_ours(auth, "[fd00::5]:8420"));
    assert_false(auth_host_is_ours(auth, "fd00::5:8420"));
    auth_destroy(auth);
}

/* Its host is served as well, and only its pages may ask. */
static void test_auth__of_a_proxy(void **state)
{
    static const char *const others[] = {"https://hub.org:443",
                                         "https://hub.org/",
                                         "http://hub.org",
                                         "https://hub.org.evil",
                                         "https://evil",
                                         "null",
                                         "",
                                         "http://localhost:8420",
                                         "hub.org"};
    struct base_url *base = base_url_parse("https://hub.org/n12/8420", NULL);
    struct auth_place place = {8420, "127.0.0.1", base};
    struct auth *auth = auth_create(&place, true);

    (void)state;
    assert_true(auth_host_is_ours(auth, "hub.org"));
    assert_true(auth_host_is_ours(auth, "127.0.0.1:8420"));
    assert_false(auth_host_is_ours(auth, "hub.org:8420"));
    assert_false(auth_host_is_ours(auth, "evil"));
    assert_true(auth_origin_is_ours(auth, "https://hub.org"));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(auth_origin_is_ours(auth, others[i]));
    assert_false(auth_host_is_ours(auth, "n12:8420"));
    auth_destroy(auth);
    place.address = "0.0.0.0";
    auth = auth_create(&place, true);
    assert_true(auth_host_is_ours(auth, "n12:8420"));
    assert_false(auth_origin_is_ours(auth, "http://n12:8420"));
    assert_false(auth_host_is_ours(auth, "n13:8420"));
    auth_destroy(auth);
    base_url_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auth__tokens_are_long_and_never_the_same),
        cmocka_unit_test(test_auth__read_only_has_no_operator),
        cmocka_unit_test(test_auth__reads_bearers),
        cmocka_unit_test(test_auth__knows_its_own_names),
        cmocka_unit_test(test_auth__a_socket_has_any_port),
        cmocka_unit_test(test_auth__has_the_name_of_its_address),
        cmocka_unit_test(test_auth__of_a_proxy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
