/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is opened or refused; and what refusing leaves untouched. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "tests/unit/store/store_test.h"

static struct buf must_read(const char *folder)
{
    struct err err = {0};
    struct buf bytes = BUF_INIT;
    char *path = fs_join(folder, "smtune.db");

    must(fs_read(path, 1 << 30, &bytes, &err));
    free(path);
    return bytes;
}

static void must_write(const char *folder, const void *bytes, size_t length)
{
    struct err err = {0};
    char *path = fs_join(folder, "smtune.db");

    must(fs_write_atomic(path, bytes, length, 0600, &err));
    free(path);
}

static void must_stay(const char *folder, struct buf *before)
{
    struct buf after = must_read(folder);

    assert_int_equal(after.length, before->length);
    assert_memory_equal(after.data, before->data, before->length);
    buf_clear(&after);
    buf_clear(before);
}

static void test_store_open__only_create_creates(void **state)
{
    char *inner = fs_join(*state, "a/b");
    char *outer = fs_join(*state, "a");
    struct stat status;

    must_refuse(inner, STORE_READ, ERR_NOT_FOUND, inner);
    must_refuse(inner, STORE_WRITE, ERR_NOT_FOUND, inner);
    assert_false(fs_exists(outer));
    store_close(must_open(inner, STORE_CREATE));
    assert_int_equal(stat(inner, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    store_close(must_open(inner, STORE_READ));
    store_close(must_open(inner, STORE_WRITE));
    free(inner);
    free(outer);
}

static void test_store_open__says_where_it_is(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    char *run = store_run_directory(store, "mlp");
    char *expected = fs_join(*state, "runs/mlp");

    assert_string_equal(store_directory(store), *state);
    assert_string_equal(run, expected);
    store_close(store);
    free(run);
    free(expected);
}

static void test_store_open__empty_file_becomes_a_store(void **state)
{
    struct err err = {0};
    struct store *store;
    char *answer;
    int64_t run;

    must_write(*state, "", 0);
    must_refuse(*state, STORE_READ, ERR_NOT_FOUND, "empty");
    store = must_open(*state, STORE_WRITE);
    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(store_commit(store, &err));
    store_close(store);
    answer = ask_sqlite(*state, "SELECT * FROM pragma_application_id,"
                                " pragma_user_version, pragma_journal_mode,"
                                " pragma_integrity_check");
    assert_string_equal(answer, "1936553077|1|wal|ok");
    free(answer);
}

/* A version 0 with our mark. */
static void test_store_open__unfinished_tables_are_made(void **state)
{
    free(ask_sqlite(*state, "PRAGMA application_id = 1936553077"));
    must_refuse(*state, STORE_READ, ERR_NOT_FOUND, "empty");
    store_close(must_fill(*state, 1));
    store_close(must_open(*state, STORE_READ));
}

static void test_store_open__newer_version_is_refused(void **state)
{
    struct buf before;

    store_close(must_fill(*state, 1));
    free(ask_sqlite(*state, "PRAGMA user_version = 99"));
    before = must_read(*state);
    must_refuse(*state, STORE_READ, ERR_FAILED, "newer smtune");
    must_refuse(*state, STORE_WRITE, ERR_FAILED, "newer smtune");
    must_refuse(*state, STORE_CREATE, ERR_FAILED, "newer smtune");
    must_stay(*state, &before);
}

static void test_store_open__foreign_database_is_refused(void **state)
{
    struct buf before;

    free(
        ask_sqlite(*state, "CREATE TABLE theirs (a); PRAGMA user_version = 1"));
    before = must_read(*state);
    must_refuse(*state, STORE_READ, ERR_FAILED, "not a store of smtune");
    must_refuse(*state, STORE_CREATE, ERR_FAILED, "not a store of smtune");
    must_stay(*state, &before);
}

static void test_store_open__other_files_are_refused(void **state)
{
    static const char text[] = "no database, but longer than a header: "
                               "....................................."
                               ".....................................";
    struct buf before;

    must_write(*state, text, sizeof(text));
    before = must_read(*state);
    must_refuse(*state, STORE_READ, ERR_FAILED, "not a database");
    must_refuse(*state, STORE_CREATE, ERR_FAILED, "not a database");
    must_stay(*state, &before);
}

/* Reads all there is. Whatever the file holds, it ends, in rows or an error. */
static bool reads_well(const char *folder)
{
    struct err err = {0};
    struct store *store = store_open(folder, STORE_READ, &err);
    struct trial_query query = {.run = 1, .order = ORDER_BEST};
    int64_t count = 0;
    int result;

    if (store == NULL)
        return false;
    result = store_each_trial(store, &query, count_trial, &count, &err);
    store_close(store);
    if (result == 0)
        return count == 200;
    assert_null(strchr(err.text, '\n'));
    assert_true(err.text[0] != '\0');
    return false;
}

static void test_store_open__damaged_pages_are_noticed(void **state)
{
    enum { PAGE = 4096 };
    struct buf good;
    size_t bad = 0, pages;

    store_close(must_fill(*state, 200));
    assert_true(reads_well(*state));
    good = must_read(*state);
    pages = good.length / PAGE;
    for (size_t page = 0; page < pages; page++) {
        char saved[PAGE];

        memcpy(saved, good.data + page * PAGE, PAGE);
        memset(good.data + page * PAGE, 0xa5, PAGE);
        must_write(*state, good.data, good.length);
        bad += !reads_well(*state);
        memcpy(good.data + page * PAGE, saved, PAGE);
    }
    assert_true(bad > pages / 4); /* the others hold events and such */
    for (size_t length = 1; length < good.length; length += good.length / 16) {
        must_write(*state, good.data, length);
        assert_false(reads_well(*state));
    }
    buf_clear(&good);
}

/* ---- read-only folders ---- */

/* Root may write anywhere but to a read-only mount: one of its own is made.
 * Others take the permission away. */
static int make_read_only(const char *folder)
{
    if (getuid() != 0) {
        char *file = fs_join(folder, "smtune.db");
        int result = chmod(file, 0400) != 0 || chmod(folder, 0500) != 0;

        free(file);
        return -result;
    }
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(folder, folder, NULL, MS_BIND, NULL) != 0)
        return -1;
    return mount(NULL, folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
}

enum { READ_ALL, REFUSED, READ_PART, WROTE, SKIPPED };

static int read_read_only(const char *folder)
{
    struct err err = {0};
    struct store *store;
    int64_t count = 0;

    if (make_read_only(folder) != 0)
        return SKIPPED;
    store = store_open(folder, STORE_READ, &err);
    if (store == NULL ||
        store_each_trial(store, &(struct trial_query){.run = 1}, count_trial,
                         &count, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return REFUSED;
    }
    store_close(store);
    if (store_open(folder, STORE_WRITE, &err) != NULL)
        return WROTE;
    return count == 5 ? READ_ALL : READ_PART;
}

static int try_read_only(const char *folder)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(read_read_only(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    chmod(folder, 0700);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect_outcome(int outcome, int expected)
{
    if (outcome == SKIPPED) {
        print_message("SKIPPED: cannot mount here\n");
        skip();
    }
    assert_int_equal(outcome, expected);
}

static void test_store_open__reads_in_a_read_only_folder(void **state)
{
    store_close(must_fill(*state, 5));
    expect_outcome(try_read_only(*state), READ_ALL);
}

/* Where nothing can be kept beside the file: a copy on a read-only medium. */
static void test_store_open__reads_a_bare_copy(void **state)
{
    char *folder = fs_join(*state, "a %copy?#");
    struct err err = {0};
    struct buf bytes;
    int outcome;

    store_close(must_fill(*state, 5));
    bytes = must_read(*state);
    must(fs_make_directories(folder, &err));
    must_write(folder, bytes.data, bytes.length);
    outcome = try_read_only(folder);
    buf_clear(&bytes);
    free(folder);
    expect_outcome(outcome, READ_ALL);
}

/* A record not yet in the file itself must not be passed over in silence. */
static void test_store_open__does_not_pass_over_a_log(void **state)
{
    struct store *store = must_fill(*state, 5);
    struct err err = {0};
    char *folder = fs_join(*state, "copy");
    char *from = fs_join(*state, "smtune.db-wal");
    char *to = fs_join(folder, "smtune.db-wal");
    struct buf log = BUF_INIT;
    struct buf bytes = must_read(*state);
    int outcome;

    must(fs_make_directories(folder, &err));
    must(fs_read(from, 1 << 30, &log, &err));
    assert_true(log.length > 0);
    must(fs_write_atomic(to, log.data, log.length, 0600, &err));
    must_write(folder, bytes.data, bytes.length);
    store_close(store);
    outcome = try_read_only(folder);
    buf_clear(&log);
    buf_clear(&bytes);
    free(from);
    free(to);
    free(folder);
    expect_outcome(outcome, REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_open__only_create_creates),
        STORE_TEST(test_store_open__says_where_it_is),
        STORE_TEST(test_store_open__empty_file_becomes_a_store),
        STORE_TEST(test_store_open__unfinished_tables_are_made),
        STORE_TEST(test_store_open__newer_version_is_refused),
        STORE_TEST(test_store_open__foreign_database_is_refused),
        STORE_TEST(test_store_open__other_files_are_refused),
        STORE_TEST(test_store_open__damaged_pages_are_noticed),
        STORE_TEST(test_store_open__reads_in_a_read_only_folder),
        STORE_TEST(test_store_open__reads_a_bare_copy),
        STORE_TEST(test_store_open__does_not_pass_over_a_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
