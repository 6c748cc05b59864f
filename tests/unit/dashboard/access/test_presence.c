/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/access/presence_address.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "dashboard/access/login_code.h"
#include "tests/unit/folder.h"

enum { NOW_MS = 1000 };

static struct presence *must_create(const char *folder, const char *name,
                                    bool is_read_only)
{
    const struct presence_about about = {.url = "http://127.0.0.1:8420",
                                         .store = folder,
                                         .is_read_only = is_read_only};
    struct err err = {0};
    struct presence *presence = presence_create(folder, name, &about, &err);

    if (presence == NULL)
        fail_msg("%s", err.text);
    return presence;
}

static void assert_found(const char *folder, const char *name,
                         const char *store)
{
    struct err err = {0};
    struct presence *found = presence_find(folder, name, store, &err);

    if (found == NULL)
        fail_msg("%s", err.text);
    assert_string_equal(presence_about(found)->url, "http://127.0.0.1:8420");
    presence_destroy(found);
}

static void assert_not_found(const char *folder, const char *name,
                             const char *store, enum err_kind kind)
{
    struct err err = {0};

    assert_null(presence_find(folder, name, store, &err));
    assert_int_equal(err.kind, kind);
}

static void test_presence__is_found_while_it_runs(void **state)
{
    struct presence *presence = must_create(*state, "8420", false);

    assert_found(*state, "8420", *state);
    assert_found(*state, "8420", "/another");
    assert_found(*state, NULL, *state);
    assert_not_found(*state, "8421", *state, ERR_NOT_FOUND);
    assert_not_found(*state, NULL, "/another", ERR_NOT_FOUND);
    presence_destroy(presence);
    assert_not_found(*state, "8420", *state, ERR_NOT_FOUND);
    assert_not_found(*state, NULL, *state, ERR_NOT_FOUND);
}

static void test_presence__is_chosen_by_name_where_there_are_two(void **state)
{
    struct presence *one = must_create(*state, "8420", false);
    struct presence *other = must_create(*state, "8421", false);

    assert_not_found(*state, NULL, *state, ERR_USAGE);
    assert_found(*state, "8421", *state);
    presence_destroy(one);
    assert_found(*state, NULL, *state);
    presence_destroy(other);
}

static void test_presence__is_of_one_process(void **state)
{
    const struct presence_about about = {.url = "http://x", .store = *state};
    struct presence *presence = must_create(*state, "8420", false);
    struct err err = {0};

    assert_null(presence_create(*state, "8420", &about, &err));
    assert_int_equal(err.kind, ERR_BUSY);
    assert_found(*state, "8420", *state);
    presence_destroy(presence);
}

/* Of a killed one the lock is free, and all else is there. */
static void test_presence__takes_the_place_of_one_that_was_killed(void **state)
{
    char *path = fs_join(*state, "8420/operator");
    struct presence *presence;

    put(*state, "8420", "lock", "");
    put(*state, "8420", "operator", "old\n");
    put(*state, "8420", "about.json", "{\"url\": \"http://old\"}");
    assert_not_found(*state, "8420", *state, ERR_NOT_FOUND);
    presence = must_create(*state, "8420", false);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_found(*state, "8420", *state);
    presence_destroy(presence);
    free(path);
}

static void test_presence__has_files_for_its_user_alone(void **state)
{
    struct presence *presence = must_create(*state, "8420", false);
    char *path = fs_join(presence_folder(presence), "operator");
    struct buf text = BUF_INIT;
    struct stat file;

    assert_int_equal(presence_write(presence, "operator", "secret", NULL), 0);
    assert_int_equal(fs_read(path, 100, &text, NULL), 0);
    assert_string_equal(buf_text(&text), "secret\n");
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    assert_int_equal(stat(presence_folder(presence), &file), 0);
    assert_int_equal(file.st_mode & 07777, 0700);
    presence_destroy(presence);
    assert_int_not_equal(access(path, F_OK), 0);
    buf_clear(&text);
    free(path);
}

static void test_presence__has_an_address_for_one_use(void **state)
{
    struct presence *presence = must_create(*state, "8420", false);
    struct presence *found = presence_find(*state, "8420", *state, NULL);
    const char prefix[] = "http://127.0.0.1:8420/login#";
    size_t length = sizeof(prefix) - 1;
    char *one = presence_operator_address(presence, NOW_MS, NULL);
    char *other = presence_operator_address(found, NOW_MS, NULL);
    const char *folder = presence_folder(presence);

    assert_memory_equal(one, prefix, length);
    assert_string_not_equal(one, other);
    assert_true(login_code_use(folder, one + length, NOW_MS));
    assert_true(login_code_use(folder, other + length, NOW_MS));
    assert_false(login_code_use(folder, other + length, NOW_MS));
    free(one);
    free(other);
    one = presence_viewer_address(presence, NULL);
    other = presence_viewer_address(found, NULL);
    assert_memory_equal(one, prefix, length);
    assert_string_equal(one, other);
    free(one);
    free(other);
    presence_destroy(found);
    presence_destroy(presence);
}

static void test_presence__has_no_operator_where_it_is_read_only(void **state)
{
    struct presence *presence = must_create(*state, "8420", true);
    struct presence *found = presence_find(*state, "8420", *state, NULL);

    assert_true(presence_about(found)->is_read_only);
    assert_null(presence_operator_address(found, NOW_MS, NULL));
    presence_destroy(found);
    presence_destroy(presence);
}

static void test_presence__withdraws_the_address_for_viewers(void **state)
{
    struct presence *presence = must_create(*state, "8420", true);
    char *old = presence_viewer_address(presence, NULL), *again;

    assert_int_equal(presence_withdraw(presence, NULL), 0);
    again = presence_viewer_address(presence, NULL);
    assert_string_not_equal(old, again);
    free(old);
    free(again);
    presence_destroy(presence);
}

/* By the last logout, or by what removes old files. */
static void test_presence__is_made_anew_where_it_was_removed(void **state)
{
    struct presence *presence = must_create(*state, "8420", false);
    char *folder = mem_copy_string(presence_folder(presence));
    char *lock = fs_join(folder, "lock"), *token = fs_join(folder, "operator");

    assert_int_equal(presence_refresh(presence, NULL), 0);
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
    assert_not_found(*state, "8420", *state, ERR_NOT_FOUND);
    assert_int_equal(presence_refresh(presence, NULL), 1);
    assert_found(*state, "8420", *state);
    assert_int_equal(presence_refresh(presence, NULL), 0);

    assert_int_equal(presence_write(presence, "operator", "old", NULL), 0);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(presence_refresh(presence, NULL), 1);
    assert_int_not_equal(access(token, F_OK), 0);
    assert_found(*state, NULL, *state);
    presence_destroy(presence);
    assert_int_not_equal(access(lock, F_OK), 0);
    free(lock);
    free(token);
    free(folder);
}

static void test_presence__leaves_the_folder_of_another_alone(void **state)
{
    const struct presence_about about = {.url = "http://x", .store = *state};
    struct presence *presence = must_create(*state, "8420", false), *other;
    struct err err = {0};

    assert_int_equal(fs_remove_tree(presence_folder(presence), NULL), 0);
    other = presence_create(*state, "8420", &about, &err);
    assert_non_null(other);
    assert_int_equal(presence_refresh(presence, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    presence_destroy(presence);
    assert_int_equal(presence_refresh(other, NULL), 0);
    presence_destroy(other);
}

static void test_presence__moves_to_where_others_look_for_it(void **state)
{
    const struct presence_about about = {.url = "http://127.0.0.1:8420",
                                         .store = *state};
    char *one = fs_join(*state, "one"), *other = fs_join(*state, "other");
    char *old = fs_join(*state, "one/smtune/dashboards/8420");
    struct presence *presence;

    assert_int_equal(mkdir(one, 0700), 0);
    assert_int_equal(mkdir(other, 0700), 0);
    setenv("XDG_RUNTIME_DIR", one, 1);
    presence = presence_create(NULL, "8420", &about, NULL);
    assert_non_null(presence);
    assert_string_equal(presence_folder(presence), old);
    assert_found(NULL, NULL, *state);
    setenv("XDG_RUNTIME_DIR", other, 1);
    assert_not_found(NULL, "8420", *state, ERR_NOT_FOUND);
    assert_int_equal(presence_refresh(presence, NULL), 1);
    assert_found(NULL, "8420", *state);
    assert_int_not_equal(access(old, F_OK), 0);
    presence_destroy(presence);
    assert_not_found(NULL, NULL, *state, ERR_NOT_FOUND);
    free(one);
    free(other);
    free(old);
}

/* Others have made the folder by then. */
static void test_presence__is_in_no_folder_that_others_may_write(void **state)
{
    const struct presence_about about = {.url = "http://x", .store = *state};
    char *folder = fs_join(*state, "smtune");
    struct presence *presence;
    struct err err = {0};

    setenv("XDG_RUNTIME_DIR", *state, 1);
    presence = presence_create(NULL, "8420", &about, NULL);
    assert_non_null(presence);
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(presence_refresh(presence, &err), -1);
    assert_non_null(strstr(err.text, folder));
    assert_not_found(NULL, "8420", *state, ERR_FAILED);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(presence_refresh(presence, NULL), 1);
    presence_destroy(presence);
    free(folder);
}

/* JSON has no such text. */
static void test_presence__has_the_path_of_its_store_byte_for_byte(void **state)
{
    char *store = fs_join(*state, "\xff");
    const struct presence_about about = {.url = "http://x", .store = store};
    struct presence *presence = presence_create(*state, "1", &about, NULL);

    assert_non_null(presence);
    assert_string_equal(presence_about(presence)->store, store);
    presence_destroy(presence);
    free(store);
}

static void test_presence__is_named_by_port_or_socket(void **state)
{
    char *port = presence_name(8420, NULL);
    char *one = presence_name(0, "/a/s"), *same = presence_name(0, "/a/./s");
    char *other = presence_name(0, "/b/s");

    (void)state;
    assert_string_equal(port, "8420");
    assert_string_equal(one, same);
    assert_string_not_equal(one, other);
    assert_null(strchr(one, '/'));
    free(port);
    free(one);
    free(same);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_presence__is_found_while_it_runs),
        FOLDER_TEST(test_presence__is_chosen_by_name_where_there_are_two),
        FOLDER_TEST(test_presence__is_of_one_process),
        FOLDER_TEST(test_presence__takes_the_place_of_one_that_was_killed),
        FOLDER_TEST(test_presence__has_files_for_its_user_alone),
        FOLDER_TEST(test_presence__has_an_address_for_one_use),
        FOLDER_TEST(test_presence__has_no_operator_where_it_is_read_only),
        FOLDER_TEST(test_presence__withdraws_the_address_for_viewers),
        FOLDER_TEST(test_presence__is_made_anew_where_it_was_removed),
        FOLDER_TEST(test_presence__leaves_the_folder_of_another_alone),
        FOLDER_TEST(test_presence__moves_to_where_others_look_for_it),
        FOLDER_TEST(test_presence__is_in_no_folder_that_others_may_write),
        FOLDER_TEST(test_presence__has_the_path_of_its_store_byte_for_byte),
        cmocka_unit_test(test_presence__is_named_by_port_or_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
