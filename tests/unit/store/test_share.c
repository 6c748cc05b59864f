/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store that a group shares, and what is wrong with its modes. Two users are
 * in tests/e2e/test_shared_store.py. */
#include "store/share.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/system/user_name.h"
#include "store/file_modes.h"
#include "store/sharing.h"
#include "store/store.h"
#include "tests/unit/store/store_test.h"

static unsigned mode_of(const char *folder, const char *name)
{
    char *path = fs_join(folder, name);
    struct stat status;

    if (stat(path, &status) != 0)
        fail_msg("there is no '%s'", path);
    free(path);
    return status.st_mode & 07777;
}

static void must_share(const char *folder)
{
    char *group = group_name(getegid());
    mode_t before = umask(077);
    struct err err = {0};

    must(store_share(folder, group, &err));
    umask(before);
    free(group);
}

static void add_fault(void *user, const struct file_modes_fault *fault)
{
    buf_printf(user, "%s %s %04o: %s\n", fault->problem,
               strrchr(fault->path, '/') + 1, fault->mode, fault->fix);
}

static void must_find(const char *folder, const char *word)
{
    struct buf found = BUF_INIT;

    file_modes_check(folder, add_fault, &found);
    if (word == NULL ? found.length > 0
                     : strstr(buf_text(&found), word) == NULL)
        fail_msg("not '%s' in: %s", word, buf_text(&found));
    buf_clear(&found);
}

static void test_share__has_the_modes_of_the_group(void **state)
{
    char *group = group_name(getegid()), *found;
    mode_t before;
    struct err err = {0};
    struct store *store;

    assert_false(store_has_group(*state));
    assert_null(store_group(*state));
    must_share(*state);
    assert_true(store_has_group(*state));
    found = store_group(*state);
    assert_string_equal(found, group);
    free(found);
    before = umask(077);
    store = must_open(*state, STORE_CREATE);
    must(store_make_run_directory(*state, "mlp", &err));
    umask(before);
    assert_int_equal(mode_of(*state, "smtune.db"), 0660);
    assert_int_equal(mode_of(*state, "smtune.db-wal"), 0660);
    assert_int_equal(mode_of(*state, "smtune.db-shm"), 0660);
    assert_int_equal(mode_of(*state, "smtune.lock"), 0660);
    assert_int_equal(mode_of(*state, ""), 02770);
    assert_int_equal(mode_of(*state, "runs"), 02770);
    assert_int_equal(mode_of(*state, "runs/mlp"), 02770);
    store_close(store);
    free(group);
}

static void test_share__modes_alone_are_no_choice(void **state)
{
    struct err err = {0};

    assert_int_equal(chmod(*state, 02770), 0);
    store_close(must_open(*state, STORE_CREATE));
    must(store_make_run_directory(*state, "mlp", &err));
    assert_int_equal(mode_of(*state, "smtune.db"), 0600);
    assert_int_equal(mode_of(*state, "smtune.lock"), 0600);
    assert_int_equal(mode_of(*state, "runs") & 077, 0);
    assert_int_equal(mode_of(*state, "runs/mlp") & 077, 0);
}

/* Anybody who may write in the folder can rename a file of its owner. */
static void test_share__another_file_is_no_choice(void **state)
{
    char *choice = fs_join(*state, SHARING_FILE);
    char *lock = fs_join(*state, "smtune.lock");
    struct err err = {0};

    assert_int_equal(chmod(*state, 02770), 0);
    store_close(must_open(*state, STORE_CREATE));
    assert_int_equal(rename(lock, choice), 0);
    assert_false(store_has_group(*state));
    must_find(*state, "smtune ignores smtune.shared 0600: rm ");
    store_close(must_open(*state, STORE_WRITE));
    assert_int_equal(mode_of(*state, "smtune.lock"), 0600);
    free(lock);
    free(choice);
    must(store_make_run_directory(*state, "mlp", &err));
}

/* In which others may have made it: what is below is private all the same. */
static void test_share__a_run_of_ones_own_is_private(void **state)
{
    char *runs = fs_join(*state, "runs");
    struct err err = {0};

    store_close(must_open(*state, STORE_CREATE));
    assert_int_equal(mkdir(runs, 0700), 0);
    assert_int_equal(chmod(runs, 02770), 0);
    must(store_make_run_directory(*state, "mlp", &err));
    assert_int_equal(mode_of(*state, "runs/mlp") & 077, 0);
    free(runs);
}

static void test_share__takes_an_empty_folder_only(void **state)
{
    char *group = group_name(getegid());
    char *schema = fs_join(*state, "experiment.schema.json");
    char *data = fs_join(*state, "data");
    struct err err = {0};

    assert_int_equal(chmod(*state, 0755), 0);
    assert_int_equal(fs_write_atomic(data, "x", 1, 0644, &err), 0);
    assert_int_equal(store_share(*state, group, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    assert_non_null(strstr(err.text, "'data'"));
    assert_int_equal(mode_of(*state, ""), 0755);
    assert_int_equal(rename(data, schema), 0);
    must_share(*state);
    free(data);
    free(schema);
    free(group);
}

static void test_share__refuses_what_it_cannot_do(void **state)
{
    char *group = group_name(getegid());
    char *far = fs_join(*state, "a/b"), *link = fs_join(*state, SHARING_FILE);
    struct err err = {0};

    assert_int_equal(store_share(*state, "no such group", &err), -1);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, group));
    assert_int_equal(store_share(far, group, &err), -1);
    assert_non_null(strstr(err.text, "cannot make the directory"));
    assert_int_equal(symlink("/dev/null", link), 0);
    assert_false(store_has_group(*state));
    must_share(*state);
    assert_true(store_has_group(*state));
    assert_int_equal(store_share(*state, group, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    free(link);
    free(far);
    free(group);
}

/* ---- file_modes ---- */

static void change(const char *folder, const char *name, mode_t mode)
{
    char *path = fs_join(folder, name);

    assert_int_equal(chmod(path, mode), 0);
    free(path);
}

static void test_share__wrong_modes_are_found(void **state)
{
    struct err err = {0};

    must_share(*state);
    must(store_make_run_directory(*state, "mlp", &err));
    must_find(*state, NULL);
    change(*state, "smtune.db", 0664);
    must_find(*state, "others may use smtune.db 0664: chmod 660 ");
    change(*state, "smtune.db", 0640);
    must_find(*state, "the group cannot use smtune.db 0640: chmod 660 ");
    change(*state, "smtune.db", 0660);
    change(*state, "runs", 0770);
    must_find(*state, "the group cannot use runs 0770: chmod 2770 ");
    change(*state, "runs", 02770);
    change(*state, "smtune.lock", 0600);
    must_find(*state, "the group cannot use smtune.lock 0600: chmod 660 ");
}

static void test_share__wrong_modes_of_ones_own_are_found(void **state)
{
    store_close(must_open(*state, STORE_CREATE));
    must_find(*state, NULL);
    change(*state, "smtune.db", 0640);
    must_find(*state, "others may use smtune.db 0640: chmod 600 ");
}

static void test_share__a_closed_folder_above_is_found(void **state)
{
    char *closed = fs_join(*state, "closed");
    char *folder = fs_join(closed, "store"), *barrier;

    assert_int_equal(mkdir(closed, 0755), 0);
    assert_int_equal(chmod(*state, 0755), 0);
    must_share(folder);
    barrier = store_find_barrier(folder);
    assert_true(barrier == NULL || !fs_is_within(barrier, *state));
    free(barrier);
    assert_int_equal(chmod(closed, 0700), 0);
    barrier = store_find_barrier(folder);
    assert_string_equal(barrier, closed);
    free(barrier);
    free(folder);
    free(closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_share__has_the_modes_of_the_group),
        STORE_TEST(test_share__modes_alone_are_no_choice),
        STORE_TEST(test_share__another_file_is_no_choice),
        STORE_TEST(test_share__a_run_of_ones_own_is_private),
        STORE_TEST(test_share__takes_an_empty_folder_only),
        STORE_TEST(test_share__refuses_what_it_cannot_do),
        STORE_TEST(test_share__wrong_modes_are_found),
        STORE_TEST(test_share__wrong_modes_of_ones_own_are_found),
        STORE_TEST(test_share__a_closed_folder_above_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
