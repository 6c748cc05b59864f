/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/logins.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "dashboard/access/presence_address.h"
#include "dashboard/access/viewer_link.h"
#include "dashboard/dashboard.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/sessions.h"
#include "tests/unit/folder.h"

enum { PATIENCE_MS = 60000 };

static const struct auth_place place = {.port = 8420, .address = "127.0.0.1"};

struct fixture {
    uv_loop_t loop;
    struct logins *logins;
    char *store, *presences;
    int withdrawn, stopped;
};

static void on_withdrawn(void *user)
{
    struct fixture *fixture = user;

    fixture->withdrawn++;
}

static void on_stopped(void *user)
{
    struct fixture *fixture = user;

    fixture->stopped++;
}

/* has_store: the store can keep the link. */
static void set_up(struct fixture *fixture, const char *folder, bool has_store)
{
    struct dashboard_options options = {0};
    struct err err = {0};

    *fixture = (struct fixture){.store = fs_join(folder, "store"),
                                .presences = fs_join(folder, "presences")};
    if (has_store)
        assert_int_equal(mkdir(fixture->store, 0700), 0);
    options.store = fixture->store;
    options.presences = fixture->presences;
    uv_loop_init(&fixture->loop);
    fixture->logins = logins_open(&options, &place, &err);
    if (fixture->logins == NULL)
        fail_msg("%s", err.text);
    logins_watch(fixture->logins, &fixture->loop, on_withdrawn, fixture);
}

static void tear_down(struct fixture *fixture)
{
    logins_stop(fixture->logins, on_stopped);
    assert_null(logins_presence(fixture->logins));
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(fixture->stopped, 1);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    logins_destroy(fixture->logins);
    free(fixture->store);
    free(fixture->presences);
}

/* Goes on with the loop until the condition holds. */
#define RUN_UNTIL(fixture, condition)                                          \
    do {                                                                       \
        int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;                   \
                                                                               \
        while (!(condition)) {                                                 \
            assert_true(clock_monotonic_ms() < end_ms);                        \
            uv_run(&(fixture)->loop, UV_RUN_ONCE);                             \
        }                                                                      \
    } while (0)

/* What is behind the # of the address, which it takes over. */
static enum role use(const struct fixture *fixture, char *address)
{
    enum role role = logins_use_code(fixture->logins, strchr(address, '#') + 1);

    free(address);
    return role;
}

static char *new_operator_address(const struct fixture *fixture)
{
    struct err err = {0};
    struct presence *found =
        presence_find(fixture->presences, "8420", fixture->store, &err);
    char *address;

    if (found == NULL)
        fail_msg("%s", err.text);
    address = presence_operator_address(found, clock_monotonic_ms(), &err);
    assert_non_null(address);
    presence_destroy(found);
    return address;
}

static char *viewer_address(const struct fixture *fixture)
{
    char *address =
        presence_viewer_address(logins_presence(fixture->logins), NULL);

    assert_non_null(address);
    return address;
}

static void test_logins__let_in_by_code_and_link(void **state)
{
    struct fixture fixture;
    char *address;

    set_up(&fixture, *state, true);
    address = new_operator_address(&fixture);
    assert_memory_equal(address, "http://127.0.0.1:8420/login#", 28);
    assert_int_equal(use(&fixture, mem_copy_string(address)), ROLE_OPERATOR);
    assert_int_equal(use(&fixture, address), ROLE_ANYONE);
    assert_int_equal(use(&fixture, viewer_address(&fixture)), ROLE_VIEWER);
    assert_int_equal(use(&fixture, viewer_address(&fixture)), ROLE_VIEWER);
    assert_int_equal(logins_use_code(fixture.logins, ""), ROLE_ANYONE);
    tear_down(&fixture);
}

static void test_logins__end_with_a_link_that_was_withdrawn(void **state)
{
    struct fixture fixture;
    struct session viewer, operator_one;
    struct sessions *sessions;
    char *old, *cookie;

    set_up(&fixture, *state, true);
    sessions = logins_sessions(fixture.logins);
    viewer = *sessions_add(sessions, ROLE_VIEWER);
    operator_one = *sessions_add(sessions, ROLE_OPERATOR);
    old = viewer_address(&fixture);
    assert_int_equal(presence_withdraw(logins_presence(fixture.logins), NULL),
                     0);
    RUN_UNTIL(&fixture, fixture.withdrawn > 0);
    assert_int_equal(use(&fixture, old), ROLE_ANYONE);
    assert_int_equal(use(&fixture, viewer_address(&fixture)), ROLE_VIEWER);
    cookie = mem_printf(SESSION_COOKIE "=%s", viewer.secret);
    assert_int_equal(
        sessions_role(sessions, viewer.key, strlen(viewer.key), cookie),
        ROLE_ANYONE);
    free(cookie);
    cookie = mem_printf(SESSION_COOKIE "=%s", operator_one.secret);
    assert_int_equal(sessions_role(sessions, operator_one.key,
                                   strlen(operator_one.key), cookie),
                     ROLE_OPERATOR);
    free(cookie);
    assert_int_equal(fixture.withdrawn, 1);
    tear_down(&fixture);
}

/* By the last logout, or by what removes old files. */
static void test_logins__are_found_again_where_their_folder_went(void **state)
{
    struct fixture fixture;
    const char *token;
    char *path;
    struct buf text = BUF_INIT;

    set_up(&fixture, *state, true);
    token = auth_token(logins_auth(fixture.logins), ROLE_OPERATOR);
    path =
        fs_join(presence_folder(logins_presence(fixture.logins)), "operator");
    assert_int_equal(fs_remove_tree(fixture.presences, NULL), 0);
    RUN_UNTIL(&fixture, access(path, F_OK) == 0);
    assert_int_equal(fs_read(path, 100, &text, NULL), 0);
    assert_memory_equal(buf_text(&text), token, strlen(token));
    assert_int_equal(use(&fixture, new_operator_address(&fixture)),
                     ROLE_OPERATOR);
    buf_clear(&text);
    free(path);
    tear_down(&fixture);
}

/* A link that is in that folder goes with it, and comes back. */
static void test_logins__keep_a_link_that_the_store_cannot(void **state)
{
    struct fixture fixture;
    char *old, *path;

    set_up(&fixture, *state, false);
    old = viewer_address(&fixture);
    path = mem_printf("%s/viewer-link-%u",
                      presence_folder(logins_presence(fixture.logins)),
                      (unsigned int)geteuid());
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(fs_remove_tree(fixture.presences, NULL), 0);
    /* There can be no such folder for a while: the timer, and nothing else. */
    put(*state, "", "presences", "");
    for (int i = 0; i < 2; i++)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    assert_int_equal(use(&fixture, mem_copy_string(old)), ROLE_VIEWER);
    assert_int_equal(unlink(fixture.presences), 0);
    RUN_UNTIL(&fixture, access(path, F_OK) == 0);
    assert_int_equal(use(&fixture, viewer_address(&fixture)), ROLE_VIEWER);
    assert_int_equal(use(&fixture, old), ROLE_VIEWER);
    assert_int_equal(fixture.withdrawn, 0);
    free(path);
    tear_down(&fixture);
}

static void test_logins__stop_while_they_look(void **state)
{
    struct fixture fixture;
    char *address;

    set_up(&fixture, *state, true);
    address = viewer_address(&fixture);
    uv_run(&fixture.loop, UV_RUN_ONCE);
    logins_stop(fixture.logins, on_stopped);
    assert_int_equal(use(&fixture, address), ROLE_ANYONE);
    /* There is nothing in it any more. */
    assert_int_equal(rmdir(fixture.presences), 0);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(fixture.stopped, 1);
    assert_int_equal(uv_loop_close(&fixture.loop), 0);
    logins_destroy(fixture.logins);
    free(fixture.store);
    free(fixture.presences);
}

static void test_logins__need_a_place(void **state)
{
    char *file = fs_join(*state, "file");
    struct dashboard_options options = {.store = *state, .presences = file};
    struct err err = {0};

    put(*state, "", "file", "");
    assert_null(logins_open(&options, &place, &err));
    assert_non_null(strstr(err.text, file));
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_logins__let_in_by_code_and_link),
        FOLDER_TEST(test_logins__end_with_a_link_that_was_withdrawn),
        FOLDER_TEST(test_logins__are_found_again_where_their_folder_went),
        FOLDER_TEST(test_logins__keep_a_link_that_the_store_cannot),
        FOLDER_TEST(test_logins__stop_while_they_look),
        FOLDER_TEST(test_logins__need_a_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
