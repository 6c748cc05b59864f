/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A progress handler counts the steps of a statement, and sees nothing of the
 * work inside one function. A precision of 2^31 makes printf() append one
 * character so often, and trim() compares each character of a text with each
 * of a set: seconds with texts of 16 KiB.
 *
 * A call is therefore charged with the most that it can cost before it begins,
 * and refused where that is more than is left for the evaluation. The work
 * itself is SQLite's: a second connection, which has nothing but its own
 * functions, calls the one that was replaced here. The charge depends on the
 * arguments alone, so an expression that one machine refuses is refused
 * everywhere, which a clock would not give.
 */
#include "base/expr/bounded.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/old_functions.h"
#include "base/mem.h"

enum {
    WORK_MAX = 2000000, /* characters compared in an evaluation: some 5 ms */
    WIDTH_MAX = 16384,  /* of all widths and precisions of a format */
    NUMBER_BYTES = 32,  /* of a number, as text */
    AT_ONCE = 16,       /* bytes that memcmp() compares in one step */
    ARGUMENTS_MAX = 32  /* as SQLITE_LIMIT_FUNCTION_ARG of an expression */
};

/* The cost of a call, or -1 after an error was set. */
typedef int64_t cost_fn(sqlite3_context *context, int count,
                        sqlite3_value **values);

struct rule {
    const char *name;
    int arguments; /* -1: any number */
    cost_fn *cost;
};

struct function {
    const struct rule *rule;
    struct bounded *owner;
    sqlite3_stmt *statements[ARGUMENTS_MAX + 1]; /* by the arguments */
};

/* ---- costs ---- */

static int64_t bytes_of(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_TEXT ? sqlite3_value_bytes(value)
                                                    : NUMBER_BYTES;
}

/* Each character with each of a pattern or set; blanks, where there is none. */
static int64_t cost_of_pairs(sqlite3_context *context, int count,
                             sqlite3_value **values)
{
    (void)context;
    return bytes_of(values[0]) * (count > 1 ? bytes_of(values[1]) : 1);
}

/* A text at each place of another. */
static int64_t cost_of_search(sqlite3_context *context, int count,
                              sqlite3_value **values)
{
    (void)context;
    (void)count;
    return bytes_of(values[0]) * (1 + bytes_of(values[1]) / AT_ONCE);
}

struct format {
    const char *at;
    sqlite3_value **values;
    int count, next;
    int64_t width; /* of all conversions so far */
};

static sqlite3_value *next_argument(struct format *format)
{
    return format->next < format->count ? format->values[format->next++] : NULL;
}

/* Of a `*`; a negative one is as large. */
static int64_t argument_width(struct format *format)
{
    sqlite3_value *value = next_argument(format);
    int64_t width = value != NULL ? sqlite3_value_int64(value) : 0;

    if (width < 0)
        width = -(width + 1);
    return width < WIDTH_MAX ? width : WIDTH_MAX + 1;
}

static int64_t written_width(struct format *format)
{
    int64_t width = 0;

    for (; *format->at >= '0' && *format->at <= '9'; format->at++)
        if (width <= WIDTH_MAX)
            width = 10 * width + (*format->at - '0');
    return width;
}

/* Moves behind a `%` and to its conversion. SQLite takes flags, width and
 * precision in their order only, and ends at what comes in another. */
static void read_widths(struct format *format)
{
    static const char flags[] = "-+ #!,.l";

    for (format->at++; *format->at != '\0';) {
        if (*format->at == '*') {
            format->width += argument_width(format);
            format->at++;
        } else if (*format->at >= '0' && *format->at <= '9') {
            format->width += written_width(format);
        } else if (strchr(flags, *format->at) != NULL) {
            format->at++;
        } else {
            return;
        }
    }
}

/* Passes the conversion; which of them have arguments has to be known, for the
 * widths among these. */
static int read_conversion(struct format *format)
{
    static const char with[] = "diuxXocszqQwfeEgGpr", without[] = "%n";

    if (*format->at == '\0')
        return 0;
    if (strchr(with, *format->at) != NULL)
        next_argument(format);
    else if (strchr(without, *format->at) == NULL)
        return -1;
    format->at++;
    return 0;
}

static int64_t cost_of_format(sqlite3_context *context, int count,
                              sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);
    struct format format = {text, values, count, 1, 0};

    if (text == NULL)
        return 0;
    while ((format.at = strchr(format.at, '%')) != NULL) {
        read_widths(&format);
        if (format.width > WIDTH_MAX) {
            char *message = mem_printf("the widths and precisions of a format "
                                       "add up to more than %d",
                                       WIDTH_MAX);

            sqlite3_result_error(context, message, -1);
            free(message);
            return -1;
        }
        if (read_conversion(&format) != 0) {
            sqlite3_result_error(context, "unknown conversion in a format", -1);
            return -1;
        }
    }
    return format.width + bytes_of(values[0]);
}

static const struct rule rules[] = {
    {"printf", -1, cost_of_format}, {"trim", 1, cost_of_pairs},
    {"trim", 2, cost_of_pairs},     {"ltrim", 1, cost_of_pairs},
    {"ltrim", 2, cost_of_pairs},    {"rtrim", 1, cost_of_pairs},
    {"rtrim", 2, cost_of_pairs},    {"instr", 2, cost_of_search},
    {"replace", 3, cost_of_search}, {"like", 2, cost_of_pairs},
    {"like", 3, cost_of_pairs},     {"glob", 2, cost_of_pairs},
};

struct bounded {
    struct function functions[ARRAY_LEN(rules)];
    sqlite3 *own;  /* opened by the first call */
    int64_t work;  /* of this evaluation */
    int64_t total; /* of all; WORK_MAX at most for each call */
};

/* ---- calls ---- */

static int open_own(struct bounded *bounded, sqlite3 *db)
{
    static const int limits[] = {SQLITE_LIMIT_LENGTH,
                                 SQLITE_LIMIT_LIKE_PATTERN_LENGTH};
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int code;

    if (bounded->own != NULL)
        return SQLITE_OK;
    code = sqlite3_open_v2(":memory:", &bounded->own, flags, NULL);
    if (code != SQLITE_OK) {
        sqlite3_close(bounded->own);
        bounded->own = NULL;
        return code;
    }
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        sqlite3_limit(bounded->own, limits[i],
                      sqlite3_limit(db, limits[i], -1));
    return SQLITE_OK;
}

/* NULL: no memory. */
static sqlite3_stmt *find_statement(struct function *function, int count,
                                    sqlite3 *db)
{
    sqlite3_stmt **statement = &function->statements[count];
    struct buf sql = BUF_INIT;

    if (*statement != NULL || open_own(function->owner, db) != SQLITE_OK)
        return *statement;
    buf_printf(&sql, "SELECT %s(", function->rule->name);
    for (int i = 1; i <= count; i++)
        buf_printf(&sql, "%s?%d", i > 1 ? "," : "", i);
    buf_add_char(&sql, ')');
    sqlite3_prepare_v3(function->owner->own, buf_text(&sql), -1,
                       SQLITE_PREPARE_PERSISTENT, statement, NULL);
    buf_clear(&sql);
    return *statement;
}

static void call_own(sqlite3_context *context, sqlite3_stmt *statement,
                     int count, sqlite3_value **values)
{
    int code = SQLITE_OK;

    for (int i = 0; code == SQLITE_OK && i < count; i++)
        code = sqlite3_bind_value(statement, i + 1, values[i]);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        sqlite3_result_value(context, sqlite3_column_value(statement, 0));
    else
        sqlite3_result_error(context,
                             sqlite3_errmsg(sqlite3_db_handle(statement)), -1);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

static void refuse_work(sqlite3_context *context)
{
    char *message = mem_printf("it compares more than %d characters", WORK_MAX);

    sqlite3_result_error(context, message, -1);
    free(message);
}

static void call(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct function *function = sqlite3_user_data(context);
    int64_t cost = 0;
    sqlite3_stmt *statement;

    if (count > ARGUMENTS_MAX) { /* not under the limits of an expression */
        sqlite3_result_error(context, "too many arguments", -1);
        return;
    }
    if (count > 0)
        cost = function->rule->cost(context, count, values);
    if (cost < 0)
        return;
    function->owner->work += cost;
    function->owner->total += cost < WORK_MAX ? cost : WORK_MAX;
    if (function->owner->work > WORK_MAX) {
        refuse_work(context);
        return;
    }
    statement =
        find_statement(function, count, sqlite3_context_db_handle(context));
    if (statement != NULL)
        call_own(context, statement, count, values);
    else
        sqlite3_result_error_nomem(context);
}

/* ---- all ---- */

struct bounded *bounded_create(void)
{
    struct bounded *bounded = mem_zero(sizeof(*bounded));

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        bounded->functions[i] =
            (struct function){.rule = &rules[i], .owner = bounded};
    return bounded;
}

void bounded_destroy(struct bounded *bounded)
{
    if (bounded == NULL)
        return;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        for (size_t k = 0; k <= ARGUMENTS_MAX; k++)
            sqlite3_finalize(bounded->functions[i].statements[k]);
    sqlite3_close(bounded->own);
    free(bounded);
}

int bounded_add(struct bounded *bounded, sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < ARRAY_LEN(rules); i++)
        code = sqlite3_create_function_v2(db, rules[i].name, rules[i].arguments,
                                          flags, &bounded->functions[i], call,
                                          NULL, NULL, NULL);
    return code;
}

void bounded_begin(struct bounded *bounded)
{
    bounded->work = 0;
}

int64_t bounded_work(const struct bounded *bounded)
{
    return bounded->total;
}
