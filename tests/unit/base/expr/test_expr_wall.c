/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: expr_sql_translate sqlite3_open_v2 */
/* The wall behind the first one: SQL that nothing has looked at comes to
 * SQLite, and reads and calls no more than an expression may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/compiler.h"
#include "base/expr/expr.h"
#include "base/expr/sql.h"

/* The first wall has a hole; the linker puts this in its place. */
int __wrap_expr_sql_translate(const char *text, const struct expr_table *tables,
                              size_t table_count, struct expr_sql *out,
                              struct err *err);
int __wrap_expr_sql_translate(const char *text, const struct expr_table *tables,
                              size_t table_count, struct expr_sql *out,
                              struct err *err)
{
    (void)tables, (void)table_count, (void)err;
    buf_printf(&out->sql, "SELECT (%s )", text);
    return 0;
}

/* The connection that was opened last. */
static sqlite3 *opened;

int __real_sqlite3_open_v2(const char *name, sqlite3 **db, int flags,
                           const char *vfs);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags,
                           const char *vfs);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags,
                           const char *vfs)
{
    int rc = __real_sqlite3_open_v2(name, db, flags, vfs);

    opened = *db;
    return rc;
}

static void test_expr_wall__lets_pure_functions_through(void **state)
{
    struct expr_env *env = expr_env_create(NULL);
    struct expr *expr = expr_compile(env, "abs(-3) + 1", NULL, 0, NULL);
    struct value value;

    (void)state;
    assert_non_null(expr);
    assert_int_equal(expr_eval(expr, NULL, &value, NULL), 0);
    assert_int_equal(value.integer, 4);
    expr_destroy(expr);
    expr_env_destroy(env);
}

static void test_expr_wall__refuses_the_rest(void **state)
{
    const struct {
        const char *text, *says;
    } cases[] = {
        {"SELECT count(*) FROM sqlite_schema", "not authorized"},
        {"WITH t AS (SELECT 1) SELECT 2 FROM t", "not authorized"},
        {"load_extension('x')",
         sqlite3_compileoption_used("OMIT_LOAD_EXTENSION")
             ? "no such function"
             : "not authorized to use function"},
        {"randomblob(9)", "not authorized to use function"},
        {"sqlite_version()", "not authorized to use function"},
    };
    struct expr_env *env = expr_env_create(NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        assert_null(expr_compile(env, cases[i].text, NULL, 0, &err));
        assert_int_equal(err.kind, ERR_FILE);
        if (strstr(err.text, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].text, err.text);
    }
    expr_env_destroy(env);
}

/* Some versions of SQLite read the schema before any expression, others never
 * do; under the limits of an expression all of them must be able to. */
static void test_expr_wall__leaves_room_for_the_schema(void **state)
{
    struct expr_env *env = expr_env_create(NULL);

    (void)state;
    assert_non_null(env);
    sqlite3_set_authorizer(opened, NULL, NULL);
    if (sqlite3_exec(opened, "SELECT * FROM sqlite_schema", NULL, NULL, NULL) !=
        SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(opened));
    expr_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expr_wall__lets_pure_functions_through),
        cmocka_unit_test(test_expr_wall__refuses_the_rest),
        cmocka_unit_test(test_expr_wall__leaves_room_for_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
