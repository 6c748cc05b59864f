/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions of the tables: a store of version 1 is brought to the next ones, by
 * a writer and for a reader; what fails leaves it as it was. */
#include "store/schema/migrate.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "store/engine_lock.h"
#include "store/schema/schema.h"
#include "store/store_impl.h"
#include "tests/unit/store/store_test.h"

#define RELEASE(version)                                                       \
    "DROP VIEW IF EXISTS schema_release;"                                      \
    "CREATE VIEW schema_release AS SELECT '" version "' AS smtune;"

/* The third changes what SQLite can change by the table's text alone. */
static const char *const steps[] = {
    store_schema,
    "ALTER TABLE run ADD COLUMN owner TEXT;"
    "UPDATE run SET owner = 'somebody';" RELEASE("0.2.0"),
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_schema SET sql = replace(sql, 'cause = ''ok''',"
    " 'cause = ''ok'' OR cause = ''bored''') WHERE name = 'job';"
    "PRAGMA writable_schema = RESET;" RELEASE("0.3.0"),
};

static const char *const broken_steps[] = {
    store_schema,
    "ALTER TABLE run ADD COLUMN owner TEXT;",
    "ALTER TABLE lost ADD COLUMN owner TEXT;",
};

static const struct migrations next = {steps, ARRAY_LEN(steps)};
static const struct migrations broken = {broken_steps, ARRAY_LEN(broken_steps)};

static void must_answer(const char *folder, const char *sql, const char *text)
{
    char *answer = ask_sqlite(folder, sql);

    assert_string_equal(answer, text);
    free(answer);
}

/* The only copy from before the upgrade, the caller's to free; NULL: none. */
static char *find_copy(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    char *copy = NULL;

    while ((entry = readdir(directory)) != NULL) {
        assert_null(strstr(entry->d_name, "upgrading"));
        if (strncmp(entry->d_name, "smtune.db.version-", 18) != 0)
            continue;
        assert_null(copy);
        copy = fs_join(folder, entry->d_name);
    }
    closedir(directory);
    return copy;
}

/* One file, which nobody else reads, with the old tables and their rows. */
static void must_have_copy(const char *folder)
{
    char *copy = find_copy(folder);
    char *other = fs_join(folder, "restored");
    char *path = fs_join(other, "smtune.db");
    struct store *store;
    struct stat status;

    assert_non_null(copy);
    assert_non_null(strstr(copy, "/smtune.db.version-1-"));
    assert_int_equal(stat(copy, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(link(copy, path), 0);
    must_answer(other,
                "SELECT * FROM pragma_user_version,"
                " pragma_integrity_check, pragma_journal_mode",
                "1|ok|delete");
    store = must_open(other, STORE_READ);
    assert_int_equal(count_trials(store, 1), 3);
    store_close(store);
    free(path);
    free(other);
    free(copy);
}

static void must_be_new(const char *folder, enum store_mode mode)
{
    struct err err = {0};
    struct store *store = store_open_by(&next, folder, mode, &err);

    if (store == NULL)
        fail_msg("open: %s", err.text);
    assert_int_equal(count_trials(store, 1), 3);
    store_close(store);
    must_have_copy(folder);
    must_answer(folder,
                "SELECT * FROM pragma_user_version, pragma_integrity_check,"
                " (SELECT owner FROM run), schema_release",
                "3|ok|somebody|0.3.0");
    free(ask_sqlite(folder, "UPDATE job SET cause = 'bored'"));
    free(ask_sqlite(folder, "UPDATE job SET cause = 'tired'"));
    must_answer(folder, "SELECT DISTINCT cause FROM job", "bored");
}

static void test_store_migrate__a_writer_brings_it_up_to_date(void **state)
{
    store_close(must_fill(*state, 3));
    must_answer(*state, "PRAGMA user_version", "1");
    must_be_new(*state, STORE_WRITE);
}

static void test_store_migrate__it_is_brought_up_to_date_to_read_it(
    void **state)
{
    store_close(must_fill(*state, 3));
    must_be_new(*state, STORE_READ);
}

static void test_store_migrate__an_older_program_refuses_it(void **state)
{
    store_close(must_fill(*state, 3));
    must_be_new(*state, STORE_WRITE);
    must_refuse(
        *state, STORE_READ, ERR_FAILED,
        "newer smtune (its tables have version 3, smtune " SMTUNE_VERSION
        " supports up to 1): use smtune 0.3.0 or a later one, or go "
        "back to the copy from before its upgrade: smtune restore /");
    must_refuse(*state, STORE_WRITE, ERR_FAILED, "smtune.db.version-1-");
}

static void test_store_migrate__what_fails_leaves_the_old_one(void **state)
{
    struct err err = {0};
    struct store *store;

    store_close(must_fill(*state, 3));
    assert_null(store_open_by(&broken, *state, STORE_WRITE, &err));
    assert_non_null(strstr(err.text, "no such table: lost"));
    must_answer(*state,
                "SELECT user_version, (SELECT count(*) FROM"
                " pragma_table_info('run') WHERE name = 'owner')"
                " FROM pragma_user_version",
                "1|0");
    assert_null(find_copy(*state));
    store = must_open(*state, STORE_WRITE);
    assert_int_equal(count_trials(store, 1), 3);
    store_close(store);
}

/* An engine of an older smtune cannot use the new tables. */
static void test_store_migrate__a_run_with_an_engine_stops_it(void **state)
{
    char *run = mem_printf("%s/runs/r", (const char *)*state);
    struct err err = {0};
    int lock;

    store_close(must_fill(*state, 3));
    must(fs_make_directories(run, &err));
    lock = engine_lock_take(run, &err);
    assert_true(lock >= 0);
    for (enum store_mode mode = STORE_READ; mode <= STORE_CREATE; mode++) {
        assert_null(store_open_by(&next, *state, mode, &err));
        assert_int_equal(err.kind, ERR_BUSY);
        assert_non_null(strstr(err.text, "cannot be upgraded from version 1 of "
                                         "its tables to 3: run 'r' has an "
                                         "engine (pid "));
    }
    must_answer(*state, "PRAGMA user_version", "1");
    assert_null(find_copy(*state));
    close(lock);
    must_be_new(*state, STORE_READ);
    free(run);
}

/* The one that this smtune can read, of the newest of them. */
static void test_store_migrate__the_newest_copy_is_named(void **state)
{
    static const char *const names[] = {
        "1-20260101T000000Z", "1-20260301T000000Z",     "1-20260201T000000Z",
        "2-20260401T000000Z", "1-20260401T000000Z-wal", "x-20260501T000000Z"};

    store_close(must_fill(*state, 1));
    free(ask_sqlite(*state, "PRAGMA user_version = 3"));
    must_refuse(*state, STORE_READ, ERR_FAILED,
                "supports up to 1): use the newer one");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *path = mem_printf("%s/smtune.db.version-%s", (const char *)*state,
                                names[i]);

        assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
        free(path);
    }
    must_refuse(*state, STORE_READ, ERR_FAILED, names[1]);
}

/* Whatever its version: those before the first release had ten. */
static void test_store_migrate__unreleased_stores_are_refused(void **state)
{
    store_close(must_fill(*state, 1));
    for (int version = 0; version <= 10; version++) {
        char *sql = mem_printf("PRAGMA application_id = 1936553070;"
                               "PRAGMA user_version = %d",
                               version);

        free(ask_sqlite(*state, sql));
        free(sql);
        must_refuse(*state, STORE_READ, ERR_FAILED,
                    "from before its first release");
        must_refuse(*state, STORE_CREATE, ERR_FAILED,
                    "from before its first release");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_migrate__a_writer_brings_it_up_to_date),
        STORE_TEST(test_store_migrate__it_is_brought_up_to_date_to_read_it),
        STORE_TEST(test_store_migrate__an_older_program_refuses_it),
        STORE_TEST(test_store_migrate__what_fails_leaves_the_old_one),
        STORE_TEST(test_store_migrate__a_run_with_an_engine_stops_it),
        STORE_TEST(test_store_migrate__the_newest_copy_is_named),
        STORE_TEST(test_store_migrate__unreleased_stores_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
