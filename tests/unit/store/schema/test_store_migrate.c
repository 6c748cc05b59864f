/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions of the tables: a store of version 1 is brought to the next ones, by
 * a writer and for a reader; what fails leaves it as it was. */
#include "store/schema/migrate.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "store/schema/schema.h"
#include "store/store_impl.h"
#include "tests/unit/store/store_test.h"

/* The third changes what SQLite can change by the table's text alone. */
static const char *const steps[] = {
    store_schema,
    "ALTER TABLE run ADD COLUMN owner TEXT;"
    "UPDATE run SET owner = 'somebody';",
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_schema SET sql = replace(sql, 'cause = ''ok''',"
    " 'cause = ''ok'' OR cause = ''bored''') WHERE name = 'job';"
    "PRAGMA writable_schema = RESET;",
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

static void must_be_new(const char *folder, enum store_mode mode)
{
    struct err err = {0};
    struct store *store = store_open_by(&next, folder, mode, &err);

    if (store == NULL)
        fail_msg("open: %s", err.text);
    assert_int_equal(count_trials(store, 1), 3);
    store_close(store);
    must_answer(folder,
                "SELECT * FROM pragma_user_version, pragma_integrity_check,"
                " (SELECT owner FROM run)",
                "3|ok|somebody");
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
    must_refuse(*state, STORE_READ, ERR_FAILED,
                "newer smtune (its tables have version 3, this smtune supports "
                "up to 1)");
    must_refuse(*state, STORE_WRITE, ERR_FAILED, "newer smtune");
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
    store = must_open(*state, STORE_WRITE);
    assert_int_equal(count_trials(store, 1), 3);
    store_close(store);
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
        STORE_TEST(test_store_migrate__unreleased_stores_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
