/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: flock fs_read rename sqlite3_exec sqlite3_open_v2 */
/* wrap: sqlite3_prepare_v2 sqlite3_step sqlite3_wal_checkpoint_v2 */
/* Saving a database where the n-th of what is asked for is denied: then all is
 * as it was, or it is told that something is missing. */
#include "store/repair/salvage.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/file.h>

#include "tests/unit/store/repair/salvage_test.h"

/* What the calls that the linker puts in place deny. */
static struct {
    int in; /* calls until one fails; 0: none does */
    enum { NOT_YET, COUNTING, NOT_NOW } phase; /* whether they count */
    bool is_locked; /* the writers' lock cannot be had */
    bool is_full;   /* there is no room for what a log holds */
    bool is_cut;    /* the new file reads as shorter than a page */
    const char *to; /* nothing is renamed to what ends so */
    bool is_patchy; /* of the events, every other key cannot be read */
    int64_t steps;  /* of these */
} denied;

int __real_sqlite3_open_v2(const char *path, sqlite3 **db, int flags,
                           const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags,
                           const char *vfs);
int __real_sqlite3_exec(sqlite3 *db, const char *sql,
                        int (*row)(void *, int, char **, char **), void *user,
                        char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql,
                        int (*row)(void *, int, char **, char **), void *user,
                        char **error);
int __real_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest);
int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __real_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode,
                                     int *frames, int *done);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode,
                                     int *frames, int *done);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_fs_read(const char *path, size_t max_bytes, struct buf *out,
                   struct err *err);
int __wrap_fs_read(const char *path, size_t max_bytes, struct buf *out,
                   struct err *err);

static bool is_denied(void)
{
    return denied.phase == COUNTING && denied.in > 0 && --denied.in == 0;
}

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags,
                           const char *vfs)
{
    int code = __real_sqlite3_open_v2(path, db, flags, vfs);

    if ((flags & SQLITE_OPEN_READONLY) != 0)
        denied.phase = COUNTING;
    return is_denied() ? SQLITE_NOMEM : code;
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql,
                        int (*row)(void *, int, char **, char **), void *user,
                        char **error)
{
    if (denied.phase == NOT_NOW && strcmp(sql, "COMMIT") == 0)
        denied.phase = COUNTING;
    return is_denied() ? SQLITE_IOERR
                       : __real_sqlite3_exec(db, sql, row, user, error);
}

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length,
                              sqlite3_stmt **statement, const char **rest)
{
    if (is_denied())
        return SQLITE_NOMEM;
    return __real_sqlite3_prepare_v2(db, sql, length, statement, rest);
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (denied.is_patchy &&
        strstr(sqlite3_sql(statement), "FROM \"event\"") != NULL)
        return denied.steps++ % 2 == 0 ? SQLITE_CORRUPT : SQLITE_DONE;
    if (is_denied())
        return SQLITE_IOERR;
    if (strstr(sqlite3_sql(statement), "INSERT INTO \"run\"") != NULL)
        denied.phase = NOT_NOW;
    return __real_sqlite3_step(statement);
}

int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode,
                                     int *frames, int *done)
{
    if (denied.is_full)
        return SQLITE_FULL;
    return is_denied()
               ? SQLITE_IOERR
               : __real_sqlite3_wal_checkpoint_v2(db, name, mode, frames, done);
}

int __wrap_flock(int fd, int operation)
{
    errno = ENOLCK;
    return denied.is_locked ? -1 : __real_flock(fd, operation);
}

int __wrap_rename(const char *from, const char *to)
{
    size_t length = strlen(to);

    if (denied.to != NULL && length > strlen(denied.to) &&
        strcmp(to + length - strlen(denied.to), denied.to) == 0) {
        errno = EIO;
        return -1;
    }
    return __real_rename(from, to);
}

int __wrap_fs_read(const char *path, size_t max_bytes, struct buf *out,
                   struct err *err)
{
    int result = __real_fs_read(path, max_bytes, out, err);

    if (denied.is_cut && strstr(path, "/salvage.") != NULL)
        buf_truncate(out, PAGE - 1);
    return result;
}

static int clear(void **state)
{
    memset(&denied, 0, sizeof(denied));
    return remove_folder(state);
}

/* ---- each of what is asked for ---- */

/* Three trials, so that there are not too many. */
static struct buf some_trials(const char *folder)
{
    store_close(must_fill(folder, 3));
    return read_file(folder, "smtune.db");
}

static int remove_kept(const char *folder)
{
    char *kept = fs_join(folder, "kept.db");
    char *log = mem_printf("%s-wal", kept);
    int result = unlink(kept);

    unlink(log);
    free(kept);
    free(log);
    return result;
}

/* From where the damaged file is opened, of the tables of the first alone, and
 * of the end. Of the damaged file something can be read after all. */
static void deny_each(const char *folder, const struct buf *bytes, int64_t rows,
                      int most)
{
    struct salvage saved;
    struct err err;
    int n = 0, failures = 0;

    for (;;) {
        int result;

        err = (struct err){0};
        write_file(folder, "smtune.db", bytes);
        denied.in = ++n;
        denied.phase = NOT_YET;
        result = salvage(folder, &saved, &err);
        if (denied.in > 0 || n == most)
            break;
        if (result == 0 && saved.gaps == 0 && saved.rows != rows)
            fail_msg("denied the call %d: %lld rows of %lld", n,
                     (long long)saved.rows, (long long)rows);
        if (result == 0)
            assert_int_equal(remove_kept(folder), 0);
        failures += result != 0;
    }
    denied.in = 0;
    assert_true(n >= 20 && failures >= 3);
}

static void test_salvage__tells_of_all_that_was_denied(void **state)
{
    struct buf bytes = some_trials(*state);
    struct salvage saved;
    struct err err = {0};

    must(salvage(*state, &saved, &err));
    assert_int_equal(saved.gaps, 0);
    assert_int_equal(remove_kept(*state), 0);
    deny_each(*state, &bytes, saved.rows, 0);
    buf_clear(&bytes);
}

static void test_salvage__tells_of_it_with_a_borrowed_page(void **state)
{
    struct buf bytes = some_trials(*state);
    struct salvage saved;
    struct err err = {0};

    spoil(&bytes, 1);
    write_file(*state, "smtune.db", &bytes);
    must(salvage(*state, &saved, &err));
    assert_int_equal(saved.gaps, 1);
    assert_int_equal(remove_kept(*state), 0);
    deny_each(*state, &bytes, saved.rows, 20);
    buf_clear(&bytes);
}

/* ---- one by one ---- */

static void test_salvage__waits_for_nobody_without_a_lock(void **state)
{
    struct buf bytes = some_trials(*state);

    denied.is_locked = true;
    must_not_salvage(*state, ERR_FAILED, "store '/tmp/smtune-test-");
    buf_clear(&bytes);
}

/* Its file alone would be put in place, without what its log holds. */
static void test_salvage__needs_all_in_the_new_file(void **state)
{
    struct buf bytes = some_trials(*state);

    denied.is_full = true;
    must_not_salvage(*state, ERR_FAILED, "store '");
    buf_clear(&bytes);
}

static void test_salvage__needs_a_page_to_borrow(void **state)
{
    struct buf bytes = some_trials(*state);

    spoil(&bytes, 1);
    write_file(*state, "smtune.db", &bytes);
    denied.is_cut = true;
    must_not_salvage(*state, ERR_FAILED, "no readable data in");
    buf_clear(&bytes);
}

static void test_salvage__puts_the_log_back(void **state)
{
    struct buf bytes = some_trials(*state), log;

    put(*state, ".", "smtune.db-wal", "");
    log = read_file(*state, "smtune.db-wal");
    denied.to = "/smtune.db";
    must_not_salvage(*state, ERR_FAILED, "cannot move");
    must_be_the_same(*state, "smtune.db-wal", &log);
    assert_false(is_there(*state, "kept.db-wal"));
    buf_clear(&bytes);
    buf_clear(&log);
}

/* A table may be so damaged that it would never end. */
static void test_salvage__gives_a_table_up(void **state)
{
    struct buf bytes = some_trials(*state);
    struct salvage saved;
    struct err err = {0};

    denied.is_patchy = true;
    must(salvage(*state, &saved, &err));
    assert_true(saved.events_have_gaps);
    assert_int_equal(saved.gaps, (1 << 20) + 1);
    assert_int_equal(denied.steps, 2 * (1 << 20) + 2);
    buf_clear(&bytes);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_salvage__tells_of_all_that_was_denied),
        IN_FOLDER(test_salvage__tells_of_it_with_a_borrowed_page),
        IN_FOLDER(test_salvage__waits_for_nobody_without_a_lock),
        IN_FOLDER(test_salvage__needs_all_in_the_new_file),
        IN_FOLDER(test_salvage__needs_a_page_to_borrow),
        IN_FOLDER(test_salvage__puts_the_log_back),
        IN_FOLDER(test_salvage__gives_a_table_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
