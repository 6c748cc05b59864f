/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* The text with the session's secret in place of '@'. */
static char *with_secret(const struct session *session, const char *text)
{
    const char *at = strchr(text, '@');

    if (at == NULL)
        return mem_copy_string(text);
    return mem_printf("%.*s%s%s", (int)(at - text), text, session->secret,
                      at + 1);
}

static enum role role_with(struct sessions *sessions,
                           const struct session *session, const char *cookie)
{
    char *with = with_secret(session, cookie);
    enum role role =
        sessions_role(sessions, session->key, strlen(session->key), with);

    free(with);
    return role;
}

static void test_session__is_a_key_and_a_cookie(void **state)
{
    static const struct {
        const char *cookie;
        enum role role;
    } cases[] = {
        {"smtune=@", ROLE_OPERATOR},
        {"a=b; smtune=@; c", ROLE_OPERATOR},
        {"a=b;smtune=@", ROLE_OPERATOR},
        /* Another server of this host has set one, too. */
        {"smtune=x; smtune=@", ROLE_OPERATOR},
        {"smtune=@; smtune=x", ROLE_OPERATOR},
        {"asmtune=@", ROLE_ANYONE},
        {"smtune-8420=@", ROLE_ANYONE},
        {"smtune=@a", ROLE_ANYONE},
        {"smtune=", ROLE_ANYONE},
        {"smtune", ROLE_ANYONE},
        {"@", ROLE_ANYONE},
        {";;; ;=", ROLE_ANYONE},
        {"", ROLE_ANYONE},
    };
    struct sessions *sessions = sessions_create();
    const struct session session = *sessions_add(sessions, ROLE_OPERATOR);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (role_with(sessions, &session, cases[i].cookie) != cases[i].role)
            fail_msg("'%s'", cases[i].cookie);
    }
    assert_int_equal(
        sessions_role(sessions, session.key, strlen(session.key), NULL),
        ROLE_ANYONE);
    sessions_destroy(sessions);
}

static void test_session__needs_its_own_key(void **state)
{
    struct sessions *sessions = sessions_create();
    const struct session viewer = *sessions_add(sessions, ROLE_VIEWER);
    const struct session session = *sessions_add(sessions, ROLE_OPERATOR);
    char *cookie = mem_printf("smtune=%s", session.secret);
    const size_t length = strlen(session.key);

    (void)state;
    assert_string_not_equal(viewer.key, session.key);
    assert_string_not_equal(viewer.secret, session.secret);
    assert_int_equal(sessions_role(sessions, session.key, length, cookie),
                     ROLE_OPERATOR);
    assert_int_equal(sessions_role(sessions, viewer.key, length, cookie),
                     ROLE_ANYONE);
    assert_int_equal(sessions_role(sessions, session.key, length - 1, cookie),
                     ROLE_ANYONE);
    assert_int_equal(sessions_role(sessions, "", 0, cookie), ROLE_ANYONE);
    assert_int_equal(sessions_role(sessions, "null", 4, cookie), ROLE_ANYONE);
    assert_int_equal(role_with(sessions, &viewer, "smtune=@"), ROLE_VIEWER);
    free(cookie);
    sessions_destroy(sessions);
}

static void test_sessions__end_by_role(void **state)
{
    struct sessions *sessions = sessions_create();
    const struct session viewer = *sessions_add(sessions, ROLE_VIEWER);
    const struct session session = *sessions_add(sessions, ROLE_OPERATOR);

    (void)state;
    sessions_end(sessions, ROLE_VIEWER);
    assert_int_equal(role_with(sessions, &viewer, "smtune=@"), ROLE_ANYONE);
    assert_int_equal(role_with(sessions, &session, "smtune=@"), ROLE_OPERATOR);
    sessions_destroy(sessions);
}

/* Viewers come in as often as they like, and put out no operator. */
static void test_sessions__that_are_in_use_stay(void **state)
{
    struct sessions *sessions = sessions_create();
    const struct session session = *sessions_add(sessions, ROLE_OPERATOR);
    const struct session idle = *sessions_add(sessions, ROLE_VIEWER);
    const struct session busy = *sessions_add(sessions, ROLE_VIEWER);

    (void)state;
    for (int i = 0; i < 3 * SESSIONS_MAX; i++) {
        sessions_add(sessions, ROLE_VIEWER);
        assert_int_equal(role_with(sessions, &busy, "smtune=@"), ROLE_VIEWER);
    }
    assert_int_equal(role_with(sessions, &idle, "smtune=@"), ROLE_ANYONE);
    assert_int_equal(role_with(sessions, &session, "smtune=@"), ROLE_OPERATOR);
    sessions_destroy(sessions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session__is_a_key_and_a_cookie),
        cmocka_unit_test(test_session__needs_its_own_key),
        cmocka_unit_test(test_sessions__end_by_role),
        cmocka_unit_test(test_sessions__that_are_in_use_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
