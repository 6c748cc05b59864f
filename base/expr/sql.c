/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/sql.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr/function.h"
#include "base/expr/logic.h"
#include "base/expr/token.h"
#include "base/mem.h"
#include "base/text.h"

enum { PARENS_MAX = 40 };

static const char *const keywords[] = {
    "and",  "or",      "not",  "in",    "is",     "null",    "like",
    "glob", "case",    "when", "then",  "else",   "end",     "cast",
    "as",   "between", "true", "false", "isnull", "notnull", "escape",
};

static const char *const cast_types[] = {"integer", "int", "real", "text",
                                         "numeric"};

/* An open parenthesis. */
struct paren {
    const char *at; /* its own place, or its function's */
    const struct expr_function *function;
    bool list; /* may hold commas */
    bool empty;
    int commas;
};

struct translation {
    const char *text;
    struct expr_token token, before;
    struct paren parens[PARENS_MAX];
    int depth;
    struct expr_sql *out;
    struct err *err;
};

static bool is_keyword(const struct expr_token *token)
{
    return token->type == EXPR_WORD &&
           expr_token_is_among(token, keywords, ARRAY_LEN(keywords));
}

static void add_place(struct expr_sql *out, size_t source)
{
    out->places = mem_grow(out->places, out->place_count, &out->place_capacity,
                           sizeof(*out->places));
    out->places[out->place_count++] =
        (struct expr_place){.sql = out->sql.length, .source = source};
}

/* Blanks on both sides: what were two tokens can never read as one. */
static void emit(struct translation *t, const struct expr_token *token)
{
    buf_add_char(&t->out->sql, ' ');
    add_place(t->out, (size_t)(token->start - t->text));
    buf_add(&t->out->sql, token->start, token->length);
}

/* Under the name that all versions of SQLite have it by: format() came
 * with 3.38 and substring() with 3.34. */
static void emit_function(struct translation *t,
                          const struct expr_function *function)
{
    const char *name = function->name;

    if (strcmp(name, "format") == 0)
        name = "printf";
    else if (strcmp(name, "substring") == 0)
        name = "substr";
    buf_add_char(&t->out->sql, ' ');
    add_place(t->out, (size_t)(t->token.start - t->text));
    buf_add_string(&t->out->sql, name);
}

static void emit_column(struct translation *t, size_t column, const char *start)
{
    struct expr_sql *out = t->out;
    size_t i = 0;

    while (i < out->column_count && out->columns[i] != column)
        i++;
    if (i == out->column_count) {
        out->columns = mem_grow(out->columns, i, &out->column_capacity,
                                sizeof(*out->columns));
        out->columns[out->column_count++] = column;
    }
    buf_add_char(&out->sql, ' ');
    add_place(out, (size_t)(start - t->text));
    buf_printf(&out->sql, "?%zu", i + 1);
}

static int next(struct translation *t)
{
    const char *behind = t->token.start + t->token.length;

    t->before = t->token;
    return expr_token_next(t->text, behind, &t->token, t->err);
}

static bool followed_by(const struct translation *t, char c)
{
    const char *behind = t->token.start + t->token.length;

    return behind[strspn(behind, " \t\r\n")] == c;
}

static int open_paren(struct translation *t, struct paren paren)
{
    if (t->depth == PARENS_MAX)
        return expr_token_error(t->text, paren.at, t->err,
                                "more than %d parentheses within each other",
                                PARENS_MAX);
    t->parens[t->depth++] = paren;
    return 0;
}

static int close_paren(struct translation *t)
{
    const struct paren *paren;
    char message[128];

    if (t->depth == 0)
        return expr_token_error(t->text, t->token.start, t->err,
                                "')' without a '(' before it");
    paren = &t->parens[--t->depth];
    emit(t, &t->token);
    if (paren->function == NULL ||
        expr_function_check(paren->function,
                            paren->empty ? 0 : paren->commas + 1, message,
                            sizeof(message)) == 0)
        return 0;
    return expr_token_error(t->text, paren->at, t->err, "%s", message);
}

static int comma(struct translation *t)
{
    if (t->depth == 0 || !t->parens[t->depth - 1].list)
        return expr_token_error(t->text, t->token.start, t->err,
                                "unexpected ',' (an expression has one value)");
    t->parens[t->depth - 1].commas++;
    emit(t, &t->token);
    return 0;
}

/* A word with '(' behind it. */
static int call(struct translation *t)
{
    const struct expr_function *function =
        expr_function_find(t->token.start, t->token.length);
    struct paren paren = {.function = function, .list = true, .empty = true};
    const char *nearest;
    char *word;

    paren.at = t->token.start;
    if (function != NULL) {
        emit_function(t, function);
        next(t); /* the '(' */
        emit(t, &t->token);
        return open_paren(t, paren);
    }
    word = mem_copy_bytes(t->token.start, t->token.length);
    nearest = expr_function_nearest(word);
    if (sqlite3_keyword_check(word, (int)t->token.length))
        expr_token_error(t->text, paren.at, t->err,
                         "'%s' is not allowed in an expression", word);
    else if (nearest != NULL)
        expr_token_error(t->text, paren.at, t->err,
                         "unknown function '%s' (did you mean '%s'?)", word,
                         nearest);
    else
        expr_token_error(t->text, paren.at, t->err, "unknown function '%s'",
                         word);
    free(word);
    return -1;
}

/* `start` is where an unknown name begins in the text: with quotes left out,
 * val-error reads as val, minus, error. */
static const char *name_to_quote(const struct expr_sql *sql, const char *start,
                                 size_t length)
{
    for (size_t i = 0; i < sql->name_count; i++)
        if (strlen(sql->names[i]) > length &&
            strncmp(start, sql->names[i], strlen(sql->names[i])) == 0)
            return sql->names[i];
    return NULL;
}

/* Whether a text may be meant by a name behind this token. */
static bool is_beside_text(const struct translation *t,
                           const struct expr_token *before)
{
    static const char *const operators[] = {"=", "==", "!=", "<>"};
    const struct paren *paren = t->depth > 0 ? &t->parens[t->depth - 1] : NULL;

    return expr_token_is_among(before, operators, ARRAY_LEN(operators)) ||
           (paren != NULL && paren->list && paren->function == NULL);
}

/* `before` is the token before the name, which begins at `first`. */
static int unknown_name(struct translation *t, const struct expr_token *before,
                        const struct expr_token *first, const char *name)
{
    const struct expr_sql *out = t->out;
    const char *at = first->start;
    const char *quote = name_to_quote(out, at, strlen(name));
    const char *nearest =
        text_nearest(name, (const char *const *)out->names, out->name_count);

    if (quote != NULL)
        return expr_token_error(t->text, at, t->err,
                                "unknown name '%s' (write \"%s\" in double "
                                "quotes)",
                                name, quote);
    if (expr_word_hint(name) != NULL)
        return expr_token_error(t->text, at, t->err, "unknown name '%s' (%s)",
                                name, expr_word_hint(name));
    if (first->type == EXPR_WORD &&
        sqlite3_keyword_check(name, (int)strlen(name)))
        return expr_token_error(t->text, at, t->err,
                                "'%s' is not allowed in an expression", name);
    if (nearest != NULL)
        return expr_token_error(t->text, at, t->err,
                                "unknown name '%s' (did you mean '%s'?)", name,
                                nearest);
    if (first->type == EXPR_NAME || is_beside_text(t, before))
        return expr_token_error(t->text, at, t->err,
                                "unknown name '%s' (a text is written in "
                                "single quotes: '%s')",
                                name, name);
    return expr_token_error(t->text, at, t->err, "unknown name '%s'", name);
}

static void add_name_part(struct buf *name, const struct expr_token *token)
{
    size_t quotes = token->type == EXPR_NAME;

    buf_add(name, token->start + quotes, token->length - 2 * quotes);
}

/* lr, "val-error", train.val_loss, "tune-1".best_lr: the parts, joined. */
static int read_name(struct translation *t, struct buf *name)
{
    add_name_part(name, &t->token);
    while (t->token.start[t->token.length] == '.') {
        if (next(t) < 0)
            return -1;
        if (t->token.type == EXPR_DOT && next(t) < 0)
            return -1;
        if (t->token.type != EXPR_WORD && t->token.type != EXPR_NAME)
            return expr_token_error(t->text, t->token.start, t->err,
                                    "missing name after '%s.'", buf_text(name));
        buf_add_char(name, '.');
        add_name_part(name, &t->token);
    }
    return 0;
}

static int column(struct translation *t)
{
    struct expr_token first = t->token, before = t->before;
    struct buf name = BUF_INIT;
    size_t i = 0;
    int rc = -1;

    if (read_name(t, &name) < 0)
        goto out;
    while (i < t->out->name_count &&
           strcmp(t->out->names[i], buf_text(&name)) != 0)
        i++;
    if (i == t->out->name_count) {
        unknown_name(t, &before, &first, buf_text(&name));
        goto out;
    }
    emit_column(t, i, first.start);
    rc = 0;
out:
    buf_clear(&name);
    return rc;
}

static int cast_type(struct translation *t)
{
    if (!expr_token_is_among(&t->token, cast_types, ARRAY_LEN(cast_types)))
        return expr_token_error(t->text, t->token.start, t->err,
                                "cannot cast to '%.*s' (one of: integer, "
                                "real, text, numeric)",
                                (int)t->token.length, t->token.start);
    emit(t, &t->token);
    return 0;
}

static int word(struct translation *t)
{
    if (expr_token_is(&t->before, "as"))
        return cast_type(t);
    if (!is_keyword(&t->token))
        return followed_by(t, '(') ? call(t) : column(t);
    emit(t, &t->token);
    return 0;
}

static int translate_token(struct translation *t)
{
    struct paren group = {.at = t->token.start, .empty = true};

    switch (t->token.type) {
    case EXPR_WORD:
        return word(t);
    case EXPR_NAME:
        return column(t);
    case EXPR_OPEN:
        group.list = expr_token_is(&t->before, "in");
        emit(t, &t->token);
        return open_paren(t, group);
    case EXPR_CLOSE:
        return close_paren(t);
    case EXPR_COMMA:
        return comma(t);
    case EXPR_DOT:
        return expr_token_error(t->text, t->token.start, t->err,
                                "unexpected '.'");
    case EXPR_OPERATOR:
        /* SQLite reads f(*) as a call without arguments */
        if (t->before.type == EXPR_OPEN && *t->token.start == '*')
            return expr_token_error(t->text, t->token.start, t->err,
                                    "unexpected '*'");
        break;
    case EXPR_TEXT:
    case EXPR_NUMBER:
    case EXPR_END:
    default:
        break;
    }
    emit(t, &t->token);
    return 0;
}

static int translate_all(struct translation *t)
{
    const struct paren *open;

    for (;;) {
        if (next(t) < 0)
            return -1;
        if (t->token.type == EXPR_END)
            break;
        if (t->depth > 0 && t->token.type != EXPR_CLOSE)
            t->parens[t->depth - 1].empty = false;
        if (translate_token(t) < 0)
            return -1;
    }
    if (t->out->place_count == 0)
        return expr_token_error(t->text, t->text, t->err,
                                "the expression is empty");
    if (t->depth == 0)
        return 0;
    open = &t->parens[t->depth - 1];
    return expr_token_error(t->text, open->at, t->err,
                            "missing ')' of this '('");
}

static void collect_names(struct expr_sql *out, const struct expr_table *tables,
                          size_t table_count)
{
    size_t capacity = 0;

    for (size_t i = 0; i < table_count; i++)
        for (size_t j = 0; j < tables[i].column_count; j++) {
            const char *column_name = tables[i].columns[j];

            out->names = mem_grow(out->names, out->name_count, &capacity,
                                  sizeof(*out->names));
            out->names[out->name_count++] =
                tables[i].table != NULL
                    ? mem_printf("%s.%s", tables[i].table, column_name)
                    : mem_copy_string(column_name);
        }
}

int expr_sql_translate(const char *text, const struct expr_table *tables,
                       size_t table_count, struct expr_sql *out,
                       struct err *err)
{
    struct translation t = {.text = text, .out = out, .err = err};

    t.token = t.before = (struct expr_token){EXPR_END, text, 0};
    collect_names(out, tables, table_count);
    buf_add_string(&out->sql, "SELECT (");
    if (translate_all(&t) < 0)
        return -1;
    buf_add_string(&out->sql, " )");
    return 0;
}

void expr_sql_clear(struct expr_sql *sql)
{
    for (size_t i = 0; i < sql->name_count; i++)
        free(sql->names[i]);
    free(sql->names);
    free(sql->columns);
    free(sql->places);
    buf_clear(&sql->sql);
    *sql = (struct expr_sql)EXPR_SQL_INIT;
}

static int unexpected(const struct expr_sql *sql, const char *text,
                      const struct expr_token *token, struct err *err)
{
    int length = (int)token->length;

    for (size_t i = 0; i < sql->name_count; i++)
        if (is_keyword(token) && expr_token_is(token, sql->names[i]))
            return expr_token_error(text, token->start, err,
                                    "unexpected '%.*s' (a word of SQL: write "
                                    "\"%s\" in double quotes for the name)",
                                    length, token->start, sql->names[i]);
    return expr_token_error(text, token->start, err, "unexpected '%.*s'",
                            length, token->start);
}

int expr_sql_explain(const struct expr_sql *sql, const char *text,
                     const char *message, int sql_offset, struct err *err)
{
    const char *at = text;
    struct expr_token token;

    for (size_t i = 0; i < sql->place_count; i++)
        if (sql_offset >= 0 && sql->places[i].sql <= (size_t)sql_offset)
            at = text + sql->places[i].source;
    if (strstr(message, "syntax error") == NULL)
        return expr_token_error(text, at, err, "%c%s",
                                tolower((unsigned char)message[0]),
                                message + 1);
    if ((size_t)sql_offset >= sql->sql.length - 1)
        return expr_token_error(text, text + strlen(text), err,
                                "the expression ends too early");
    expr_token_next(text, at, &token, NULL); /* it was read before */
    return unexpected(sql, text, &token, err);
}
