/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/token.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/expr/expr.h"
#include "base/text.h"

/* What begins with one of these is refused, the first that fits. */
static const struct {
    const char *start;
    const char *hint;
} refused[] = {
    {"--", "a comment in SQL: put a blank between two minus signs"},
    {"/*", "comments are not allowed in an expression"},
    {"&&", "write AND"},
    {"**", "write pow(x, y)"},
    {"//", "write x / y, which is whole where both are"},
    {"=>", "write >="},
    {"=<", "write <="},
    {"^", "write pow(x, y)"},
    {"->", "JSON operators are not allowed"},
    {"?", "write iif(condition, a, b)"},
    {"$", "parameters are used by their names"},
    {":", "parameters are used by their names"},
    {"@", "parameters are used by their names"},
    {"#", "comments are not allowed in an expression"},
    {";", "there is one expression, without a semicolon"},
    {"`", "a name is quoted with \""},
    {"[", "a list is written in parentheses, a name is quoted with \""},
};

/* Longer ones first. */
static const char *const operators[] = {
    "||", "<=", ">=", "<>", "!=", "==", "<<", ">>", "<", ">",
    "=",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "~",
};

static const struct {
    char c;
    enum expr_token_type type;
} punctuation[] = {
    {'.', EXPR_DOT},
    {'(', EXPR_OPEN},
    {')', EXPR_CLOSE},
    {',', EXPR_COMMA},
};

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool expr_token_is(const struct expr_token *token, const char *word)
{
    return token->length == strlen(word) &&
           strncasecmp(token->start, word, token->length) == 0;
}

bool expr_token_is_among(const struct expr_token *token,
                         const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (expr_token_is(token, words[i]))
            return true;
    return false;
}

static int column_of(const char *text, const char *at)
{
    int column = 1;

    for (; text < at; text++)
        column += ((unsigned char)*text & 0xc0) != 0x80;
    return column;
}

int expr_token_error(const char *text, const char *at, struct err *err,
                     const char *format, ...)
{
    struct buf shown = BUF_INIT;
    char raw[ERR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    text_escape(raw, strlen(raw), &shown);
    err_set(err, ERR_FILE, "%s", buf_text(&shown));
    buf_clear(&shown);
    if (err != NULL)
        err->column = column_of(text, at);
    return -1;
}

static size_t digits(const char *at)
{
    return strspn(at, "0123456789");
}

static int number(const char *text, struct expr_token *token, struct err *err)
{
    const char *at = token->start;

    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        at += 2 + strspn(at + 2, "0123456789abcdefABCDEF");
    } else {
        at += digits(at);
        if (*at == '.')
            at += 1 + digits(at + 1);
        if (*at == 'e' || *at == 'E') {
            size_t sign = at[1] == '+' || at[1] == '-';

            if (digits(at + 1 + sign) > 0)
                at += 1 + sign + digits(at + 1 + sign);
        }
    }
    token->type = EXPR_NUMBER;
    token->length = (size_t)(at - token->start);
    if (!is_word_char(*at) && tolower((unsigned char)at[-1]) != 'x')
        return 0;
    while (is_word_char(*at))
        at++;
    return expr_token_error(text, token->start, err, "bad number '%.*s'",
                            (int)(at - token->start), token->start);
}

static int quoted(const char *text, struct expr_token *token, struct err *err)
{
    char quote = *token->start;
    const char *end = strchr(token->start + 1, quote);

    token->type = quote == '"' ? EXPR_NAME : EXPR_TEXT;
    /* '' within a text stands for one quote */
    while (end != NULL && quote == '\'' && end[1] == quote)
        end = strchr(end + 2, quote);
    if (end == NULL)
        return expr_token_error(text, token->start, err, "missing closing %c",
                                quote);
    token->length = (size_t)(end + 1 - token->start);
    return 0;
}

static int operator_or_not(const char *text, struct expr_token *token,
                           struct err *err)
{
    const char *at = token->start;
    size_t length = text_next_rune(at, strlen(at), NULL);

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (text_begins_with(at, refused[i].start))
            return expr_token_error(text, at, err, "unexpected '%s' (%s)",
                                    refused[i].start, refused[i].hint);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (text_begins_with(at, operators[i])) {
            token->type = EXPR_OPERATOR;
            token->length = strlen(operators[i]);
            return 0;
        }
    for (size_t i = 0; i < ARRAY_LEN(punctuation); i++)
        if (*at == punctuation[i].c) {
            token->type = punctuation[i].type;
            token->length = 1;
            return 0;
        }
    if (*at == '!')
        return expr_token_error(text, at, err, "unexpected '!' (write NOT)");
    return expr_token_error(text, at, err, "unexpected '%.*s'",
                            length > 0 ? (int)length : 1, at);
}

int expr_token_next(const char *text, const char *at, struct expr_token *token,
                    struct err *err)
{
    at += strspn(at, " \t\r\n");
    *token = (struct expr_token){EXPR_END, at, 0};
    if (*at == '\0')
        return 0;
    if (isdigit((unsigned char)at[0]) ||
        (at[0] == '.' && isdigit((unsigned char)at[1])))
        return number(text, token, err);
    if (*at == '\'' || *at == '"')
        return quoted(text, token, err);
    if (!is_word_start(*at))
        return operator_or_not(text, token, err);
    token->type = EXPR_WORD;
    while (is_word_char(token->start[token->length]))
        token->length++;
    return 0;
}

/* The name that ends behind all its dots; where it does. */
static const char *name_end(const char *text, struct expr_token token)
{
    for (;;) {
        const char *behind = token.start + token.length;

        if (*behind != '.' ||
            expr_token_next(text, behind + 1, &token, NULL) < 0 ||
            token.start != behind + 1 ||
            (token.type != EXPR_WORD && token.type != EXPR_NAME))
            return behind;
    }
}

bool expr_find_reference(const char *text, size_t from,
                         struct expr_reference *found)
{
    const char *at = text + from;
    struct expr_token token;

    while (expr_token_next(text, at, &token, NULL) == 0 &&
           token.type != EXPR_END) {
        size_t quotes = token.type == EXPR_NAME;

        at = token.start + token.length;
        if ((token.type != EXPR_WORD && token.type != EXPR_NAME) || *at != '.')
            continue;
        at = name_end(text, token);
        if (at == token.start + token.length)
            continue;
        *found = (struct expr_reference){
            .table = token.start + quotes,
            .table_length = token.length - 2 * quotes,
            .offset = (size_t)(token.start - text),
            .end = (size_t)(at - text),
        };
        return true;
    }
    return false;
}
