/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that an older SQLite is given have the results of a newer one's
 * own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/expr/old_functions.h"

static void ask(sqlite3 *db, const char *sql, char text[256])
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_snprintf(256, text, "%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void must_agree(sqlite3 *own, sqlite3 *ours, const char *call)
{
    char sql[512], expected[256], found[256];

    sqlite3_snprintf(sizeof(sql), sql,
                     "SELECT typeof(%s) || ' ' || ifnull(%s, '')", call, call);
    ask(own, sql, expected);
    ask(ours, sql, found);
    if (strcmp(expected, found) != 0)
        fail_msg("%s is '%s', not '%s'", call, found, expected);
}

static const char *const numbers[] = {
    "0",     "1", "-1",     "2",     "7",    "0.5",  "-2.5",
    "1e300", "3", "-1e-12", "'2.5'", "' 2'", "NULL", "'three'"};

static void test_old_functions__agree_with_new_ones(void **state)
{
    static const char *const of_one[] = {
        "acos",    "acosh", "asin",    "asinh", "atan",  "atanh", "ceil",
        "ceiling", "cos",   "cosh",    "exp",   "floor", "ln",    "log",
        "sign",    "log10", "log2",    "sin",   "sqrt",  "sinh",  "tan",
        "degrees", "tanh",  "radians", "trunc"};
    static const char *const of_two[] = {"atan2", "log", "mod", "pow", "power"};
    sqlite3 *own = NULL, *ours = NULL;
    char call[128];

    (void)state;
    if (sqlite3_libversion_number() < 3035000 ||
        !sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS"))
        skip();
    assert_int_equal(sqlite3_open(":memory:", &own), SQLITE_OK);
    assert_int_equal(sqlite3_open(":memory:", &ours), SQLITE_OK);
    assert_int_equal(old_functions_add(ours, 3026000), SQLITE_OK);
    must_agree(own, ours, "pi()");
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        for (size_t j = 0; j < ARRAY_LEN(of_one); j++) {
            sqlite3_snprintf(sizeof(call), call, "%s(%s)", of_one[j],
                             numbers[i]);
            must_agree(own, ours, call);
        }
        for (size_t j = 0; j < ARRAY_LEN(of_two) * ARRAY_LEN(numbers); j++) {
            sqlite3_snprintf(sizeof(call), call, "%s(%s, %s)",
                             of_two[j / ARRAY_LEN(numbers)], numbers[i],
                             numbers[j % ARRAY_LEN(numbers)]);
            must_agree(own, ours, call);
        }
        sqlite3_snprintf(sizeof(call), call, "iif(%s, 'yes', 2)", numbers[i]);
        must_agree(own, ours, call);
    }
    sqlite3_close(own);
    sqlite3_close(ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_functions__agree_with_new_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
