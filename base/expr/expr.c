/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/expr.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/bounded.h"
#include "base/expr/function.h"
#include "base/expr/logic.h"
#include "base/expr/old_functions.h"
#include "base/expr/sql.h"
#include "base/expr/text_functions.h"
#include "base/mem.h"
#include "base/text.h"

/*
 * Two walls stand between a user's text and SQLite. base/expr/sql.c lets
 * only the tokens of a pure expression through, with every name replaced by a
 * bound parameter, so that one prepared statement without any table serves all
 * evaluations. Behind it the connection itself has nothing to read, refuses
 * by its authorizer whatever is not a function of the list, and runs under
 * limits. Limits and the handler that counts steps do not see what one function
 * does; base/expr/bounded.c replaces those that need it.
 */

enum { TEXT_MAX_BYTES = 4096, STEPS_MAX = 100000, BUCKETS = 4096 };

/* Expressions that come to the same SQL, which has numbers in place of names,
 * share what SQLite makes of it: of 100,000 steps most say much the same. */
struct statement {
    sqlite3_stmt *handle;
    struct bounded *bounded; /* of the environment */
    char *sql;
    size_t users;
    struct statement **link; /* what points here */
    struct statement *next;  /* in the same bucket */
};

struct expr_env {
    sqlite3 *db;
    struct bounded *bounded;
    struct statement *statements[BUCKETS];
};

struct expr {
    struct statement *statement; /* NULL: bare */
    size_t *columns;             /* parameter i+1 is values[columns[i]] */
    size_t column_count;
    bool bare;       /* one name and nothing else */
    struct buf text; /* the last result */
};

/* The limit on columns also bounds the table of the schema, which has five,
 * and which newer versions of SQLite read before they compile anything. That
 * an expression has one column is for sql.c and the authorizer. */
static const struct {
    int limit;
    int value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, 16 << 10},
    {SQLITE_LIMIT_SQL_LENGTH, 4 * TEXT_MAX_BYTES},
    {SQLITE_LIMIT_COLUMN, 16},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},
    {SQLITE_LIMIT_COMPOUND_SELECT, 1},
    {SQLITE_LIMIT_VDBE_OP, 25000},
    {SQLITE_LIMIT_FUNCTION_ARG, 32},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const struct {
    int option;
    int value;
} settings[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
#ifdef SQLITE_DBCONFIG_DQS_DML /* since SQLite 3.29 */
    {SQLITE_DBCONFIG_DQS_DML, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA /* since SQLite 3.31 */
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
#endif
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
};

static int authorize(void *user, int action, const char *first,
                     const char *second, const char *database,
                     const char *trigger)
{
    (void)user;
    (void)first;
    (void)database;
    (void)trigger;
    if (action == SQLITE_SELECT)
        return SQLITE_OK;
    if (action == SQLITE_FUNCTION &&
        expr_function_find(second, strlen(second)) != NULL)
        return SQLITE_OK;
    return SQLITE_DENY;
}

static int stop_runaway(void *user)
{
    (void)user;
    return 1;
}

/* flag('--amp', amp): the text where the condition is true, else null. */
static void compute_flag(sqlite3_context *context, int count,
                         sqlite3_value **arguments)
{
    (void)count;
    if (sqlite3_value_type(arguments[1]) == SQLITE_TEXT)
        sqlite3_result_error(
            context, "flag() takes a condition behind the text, not a text",
            -1);
    else if (sqlite3_value_double(arguments[1]) != 0.0)
        sqlite3_result_value(context, arguments[0]);
}

static int add_functions(const struct expr_env *env)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

    int code = old_functions_add(env->db, sqlite3_libversion_number());

    if (code == SQLITE_OK)
        code = text_functions_add(env->db);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(env->db, "flag", 2, flags, NULL,
                                          compute_flag, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = bounded_add(env->bounded, env->db);
    return code;
}

struct expr_env *expr_env_create(struct err *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    struct expr_env *env = mem_zero(sizeof(*env));
    int rc = sqlite3_open_v2(":memory:", &env->db, flags, NULL);

    env->bounded = bounded_create();
    for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_LEN(settings); i++)
        rc = sqlite3_db_config(env->db, settings[i].option, settings[i].value,
                               NULL);
    if (rc == SQLITE_OK)
        rc = add_functions(env);
    if (rc == SQLITE_OK)
        rc = sqlite3_set_authorizer(env->db, authorize, NULL);
    if (rc != SQLITE_OK) {
        err_set(err, ERR_FAILED, "cannot open SQLite for expressions: %s",
                sqlite3_errstr(rc));
        expr_env_destroy(env);
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        sqlite3_limit(env->db, limits[i].limit, limits[i].value);
    sqlite3_progress_handler(env->db, STEPS_MAX, stop_runaway, NULL);
    return env;
}

int64_t expr_env_work(const struct expr_env *env)
{
    return bounded_work(env->bounded);
}

void expr_env_destroy(struct expr_env *env)
{
    if (env == NULL)
        return;
    sqlite3_close(env->db);
    bounded_destroy(env->bounded);
    free(env);
}

static size_t bucket_of(const char *sql)
{
    return text_hash(sql, strlen(sql)) % BUCKETS;
}

static struct statement *add_statement(struct statement **bucket,
                                       const char *sql, sqlite3_stmt *handle)
{
    struct statement *statement = mem_zero(sizeof(*statement));

    statement->handle = handle;
    statement->sql = mem_copy_string(sql);
    statement->link = bucket;
    statement->next = *bucket;
    if (statement->next != NULL)
        statement->next->link = &statement->next;
    *bucket = statement;
    return statement;
}

/* The look for the place prepares statements of its own, where SQLite is old,
 * after which the message is another. */
static void explain(const struct expr_env *env, const char *text,
                    const struct expr_sql *sql, struct err *err)
{
    char *message = mem_copy_string(sqlite3_errmsg(env->db));
    int offset = old_functions_error_offset(env->db, buf_text(&sql->sql));

    expr_sql_explain(sql, text, message, offset, err);
    free(message);
}

static struct statement *prepare(struct expr_env *env, const char *text,
                                 const struct expr_sql *sql, struct err *err)
{
    const char *wanted = buf_text(&sql->sql);
    struct statement **bucket = &env->statements[bucket_of(wanted)];
    struct statement *statement = *bucket;
    sqlite3_stmt *handle = NULL;

    while (statement != NULL && strcmp(statement->sql, wanted) != 0)
        statement = statement->next;
    if (statement == NULL &&
        sqlite3_prepare_v3(env->db, wanted, (int)sql->sql.length,
                           SQLITE_PREPARE_PERSISTENT, &handle,
                           NULL) == SQLITE_OK)
        statement = add_statement(bucket, wanted, handle);
    if (statement != NULL) {
        statement->bounded = env->bounded;
        statement->users++;
    } else {
        explain(env, text, sql, err);
    }
    return statement;
}

static void release(struct statement *statement)
{
    if (statement == NULL || --statement->users > 0)
        return;
    *statement->link = statement->next;
    if (statement->next != NULL)
        statement->next->link = statement->link;
    sqlite3_finalize(statement->handle);
    free(statement->sql);
    free(statement);
}

struct expr *expr_compile(struct expr_env *env, const char *text,
                          const struct expr_table *tables, size_t table_count,
                          struct err *err)
{
    struct expr_sql sql = EXPR_SQL_INIT;
    struct statement *statement = NULL;
    struct expr *expr = NULL;
    bool bare, sound;

    if (strlen(text) > TEXT_MAX_BYTES) {
        err_set(err, ERR_FILE,
                "the expression is too long: %zu bytes, more than %d",
                strlen(text), TEXT_MAX_BYTES);
        if (err != NULL)
            err->column = 1;
        return NULL;
    }
    sound = expr_sql_translate(text, tables, table_count, &sql, err) == 0;
    bare = sound && sql.place_count == 1 && sql.column_count == 1;
    if (sound && !bare)
        statement = prepare(env, text, &sql, err);
    if (statement != NULL && expr_check_logic(text, err) < 0) {
        release(statement);
        statement = NULL;
    }
    if (bare || statement != NULL) {
        expr = mem_zero(sizeof(*expr));
        expr->statement = statement;
        expr->columns = sql.columns;
        expr->column_count = sql.column_count;
        expr->bare = bare;
        sql.columns = NULL;
    }
    expr_sql_clear(&sql);
    return expr;
}

void expr_destroy(struct expr *expr)
{
    if (expr == NULL)
        return;
    release(expr->statement);
    free(expr->columns);
    buf_clear(&expr->text);
    free(expr);
}

bool expr_uses(const struct expr *expr, size_t index)
{
    for (size_t i = 0; i < expr->column_count; i++)
        if (expr->columns[i] == index)
            return true;
    return false;
}

bool expr_is_name(const struct expr *expr)
{
    return expr->bare;
}

static int bind(sqlite3_stmt *statement, int i, const struct value *value)
{
    struct value number;

    switch (value->type) {
    case VALUE_BOOL:
        return sqlite3_bind_int(statement, i, value->boolean);
    case VALUE_INT:
        return sqlite3_bind_int64(statement, i, value->integer);
    case VALUE_REAL:
        return sqlite3_bind_double(statement, i, value->real);
    case VALUE_JSON:
        if (value_is_null(value))
            return sqlite3_bind_null(statement, i);
        return sqlite3_bind_text(statement, i, value->text, -1, SQLITE_STATIC);
    case VALUE_NUMERAL:
        number = value_of_numeral(value);
        return bind(statement, i, &number);
    case VALUE_TEXT:
        return sqlite3_bind_text(statement, i, value->text, -1, SQLITE_STATIC);
    case VALUE_NULL:
    default:
        return sqlite3_bind_null(statement, i);
    }
}

static struct value keep_text(struct expr *expr, const char *text)
{
    buf_truncate(&expr->text, 0);
    buf_add_string(&expr->text, text);
    return value_text(buf_text(&expr->text));
}

static int take_result(struct expr *expr, struct value *result, struct err *err)
{
    sqlite3_stmt *statement = expr->statement->handle;
    const char *text;
    size_t length;

    switch (sqlite3_column_type(statement, 0)) {
    case SQLITE_NULL:
        *result = value_null();
        return 0;
    case SQLITE_INTEGER:
        *result = value_int(sqlite3_column_int64(statement, 0));
        return 0;
    case SQLITE_FLOAT:
        *result = value_real(sqlite3_column_double(statement, 0));
        return 0;
    default:
        break;
    }
    text = (const char *)sqlite3_column_text(statement, 0);
    length = (size_t)sqlite3_column_bytes(statement, 0);
    if (text == NULL)
        return err_set(err, ERR_FAILED,
                       "out of memory for the result of an expression");
    if (strlen(text) != length)
        return err_set(err, ERR_FAILED,
                       "the result of the expression contains a NUL character");
    *result = keep_text(expr, text);
    return 0;
}

int expr_eval(struct expr *expr, const struct value *values,
              struct value *result, struct err *err)
{
    sqlite3_stmt *statement;
    int rc = SQLITE_OK;

    if (expr->bare) {
        *result = values[expr->columns[0]];
        if (value_has_text(result))
            result->text = keep_text(expr, result->text).text;
        return 0;
    }
    statement = expr->statement->handle;
    for (size_t i = 0; rc == SQLITE_OK && i < expr->column_count; i++)
        rc = bind(statement, (int)i + 1, &values[expr->columns[i]]);
    /* the handler counts the steps of all evaluations since the last reset */
    sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    bounded_begin(expr->statement->bounded);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        rc = take_result(expr, result, err);
    else
        rc = err_set(err, ERR_FAILED, "cannot evaluate the expression: %s",
                     sqlite3_errmsg(sqlite3_db_handle(statement)));
    sqlite3_reset(statement);
    return rc;
}
