/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/old_functions.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

enum { IIF = 3032000, SIGN = 3035000, MATHEMATICS = 3035000 };

/* -- Functions ------------------------------------------------------------*/

struct function {
    const char *name;
    double (*of_one)(double);
    double (*of_two)(double, double);
    int args;
    bool keeps_int; /* a whole number stays what it is */
};

/* Whether it is a number, or a text that is one. */
static bool get_number(sqlite3_value *value, double *number)
{
    int type = sqlite3_value_numeric_type(value);

    *number = sqlite3_value_double(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Null of what is no number, and where there is no result. */
static void compute(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct function *function = sqlite3_user_data(context);
    double x, y = 0;

    if (!get_number(values[0], &x) || (count > 1 && !get_number(values[1], &y)))
        return;
    if (function->keeps_int &&
        sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER)
        sqlite3_result_int64(context, sqlite3_value_int64(values[0]));
    else
        sqlite3_result_double(context, count > 1 ? function->of_two(x, y)
                                                 : function->of_one(x));
}

static double no_number(void)
{
    return (double)NAN;
}

static double log_above_0(double x)
{
    return x > 0 ? log(x) : no_number();
}

static double log10_above_0(double x)
{
    return x > 0 ? log10(x) : no_number();
}

static double log2_above_0(double x)
{
    return x > 0 ? log2(x) : no_number();
}

static double log_to_base(double base, double x)
{
    return base > 1 && x > 0 ? log(x) / log(base) : no_number();
}

static double to_radians(double x)
{
    return x * (M_PI / 180.0);
}

static double to_degrees(double x)
{
    return x * (180.0 / M_PI);
}

static const struct function functions[] = {
    {"acos", acos, NULL, 1, false},
    {"acosh", acosh, NULL, 1, false},
    {"asin", asin, NULL, 1, false},
    {"asinh", asinh, NULL, 1, false},
    {"atan", atan, NULL, 1, false},
    {"atan2", NULL, atan2, 2, false},
    {"atanh", atanh, NULL, 1, false},
    {"ceil", ceil, NULL, 1, true},
    {"ceiling", ceil, NULL, 1, true},
    {"cos", cos, NULL, 1, false},
    {"cosh", cosh, NULL, 1, false},
    {"degrees", to_degrees, NULL, 1, false},
    {"exp", exp, NULL, 1, false},
    {"floor", floor, NULL, 1, true},
    {"ln", log_above_0, NULL, 1, false},
    {"log", log10_above_0, NULL, 1, false},
    {"log", NULL, log_to_base, 2, false},
    {"log10", log10_above_0, NULL, 1, false},
    {"log2", log2_above_0, NULL, 1, false},
    {"mod", NULL, fmod, 2, false},
    {"pow", NULL, pow, 2, false},
    {"power", NULL, pow, 2, false},
    {"radians", to_radians, NULL, 1, false},
    {"sin", sin, NULL, 1, false},
    {"sinh", sinh, NULL, 1, false},
    {"sqrt", sqrt, NULL, 1, false},
    {"tan", tan, NULL, 1, false},
    {"tanh", tanh, NULL, 1, false},
    {"trunc", trunc, NULL, 1, true},
};

static void compute_pi(sqlite3_context *context, int count,
                       sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_double(context, M_PI);
}

static void compute_sign(sqlite3_context *context, int count,
                         sqlite3_value **values)
{
    double x;

    (void)count;
    if (get_number(values[0], &x))
        sqlite3_result_int(context, (x > 0) - (x < 0));
}

static void compute_iif(sqlite3_context *context, int count,
                        sqlite3_value **values)
{
    (void)count;
    sqlite3_result_value(context, sqlite3_value_double(values[0]) != 0.0
                                      ? values[1]
                                      : values[2]);
}

static int add(sqlite3 *db, const char *name, int args, void *user,
               void (*function)(sqlite3_context *, int, sqlite3_value **))
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

    return sqlite3_create_function_v2(db, name, args, flags, user, function,
                                      NULL, NULL, NULL);
}

static int add_mathematics(sqlite3 *db)
{
    int code = add(db, "pi", 0, NULL, compute_pi);

    for (size_t i = 0; code == SQLITE_OK && i < ARRAY_LEN(functions); i++) {
        const struct function *function = &functions[i];
        void *user;

        memcpy(&user, &function,
               sizeof(user)); /* SQLite does not write there */
        code = add(db, function->name, function->args, user, compute);
    }
    return code;
}

int old_functions_add(sqlite3 *db, int version)
{
    int code = SQLITE_OK;

    if (version < IIF)
        code = add(db, "iif", 3, NULL, compute_iif);
    if (code == SQLITE_OK && version < SIGN)
        code = add(db, "sign", 1, NULL, compute_sign);
    if (code == SQLITE_OK &&
        (version < MATHEMATICS ||
         !sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS")))
        code = add_mathematics(db);
    return code;
}

/* -- Where an error is ----------------------------------------------------*/

#if SQLITE_VERSION_NUMBER >= 3038000

int old_functions_error_offset(sqlite3 *db, const char *sql)
{
    (void)sql;
    return sqlite3_error_offset(db);
}

#else

/* Whether what there is of the statement up to there cannot be read. */
static bool is_wrong(sqlite3 *db, const char *sql, size_t length)
{
    sqlite3_stmt *statement = NULL;
    bool is_error =
        sqlite3_prepare_v2(db, sql, (int)length, &statement, NULL) != SQLITE_OK;

    sqlite3_finalize(statement);
    return is_error && strstr(sqlite3_errmsg(db), "syntax error") != NULL;
}

/* 'near "x": syntax error' names the token. Its place is the first one where
 * the statement up to behind it is as wrong, as all before could go on. */
int old_functions_error_offset(sqlite3 *db, const char *sql)
{
    const char *message = sqlite3_errmsg(db);
    const char *end = strstr(message, "\": syntax error");
    size_t length;
    char *token;
    int offset = -1;

    if (end == NULL || strncmp(message, "near \"", 6) != 0)
        return -1;
    message += 6;
    length = (size_t)(end - message);
    token = mem_copy_bytes(message, length);
    for (const char *at = strstr(sql, token);
         at != NULL && length > 0 && offset < 0; at = strstr(at + 1, token)) {
        if (is_wrong(db, sql, (size_t)(at - sql) + length))
            offset = (int)(at - sql);
    }
    free(token);
    return offset;
}

#endif
