/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store's SQL for older versions of SQLite. */
#include "store/schema/dialect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "store/schema/schema.h"

static void test_dialect__leaves_out_what_an_old_version_lacks(void **state)
{
    static const struct {
        int version;
        const char *sql, *expected; /* NULL: as it is */
    } cases[] = {
        {3037000, "CREATE TABLE t (a INT) STRICT", NULL},
        {3036000, "CREATE TABLE t (a INT) STRICT;", "CREATE TABLE t (a INT);"},
        {3034001, "t (a ANY NOT NULL) STRICT, WITHOUT ROWID;",
         "t (a BLOB NOT NULL) WITHOUT ROWID;"},
        {3036000, "WITH a AS MATERIALIZED (SELECT 1)",
         "WITH a AS MATERIALIZED (SELECT 1)"},
        {3034001, "WITH a AS MATERIALIZED (SELECT 1)", "WITH a AS (SELECT 1)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *adapted = dialect_adapt(cases[i].sql, cases[i].version);

        if (cases[i].expected == NULL)
            assert_null(adapted);
        else
            assert_string_equal(adapted, cases[i].expected);
        free(adapted);
    }
}

/* All that it changes is left out; what it makes of the schema makes tables. */
static void test_dialect__makes_tables_of_the_schema(void **state)
{
    char *adapted = dialect_adapt(store_schema, 3026000);
    sqlite3 *db = NULL;

    (void)state;
    assert_non_null(adapted);
    assert_null(strstr(adapted, "STRICT"));
    assert_null(strstr(adapted, " ANY"));
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, adapted, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    free(adapted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialect__leaves_out_what_an_old_version_lacks),
        cmocka_unit_test(test_dialect__makes_tables_of_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
