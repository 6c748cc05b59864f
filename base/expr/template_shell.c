/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scanner that follows a shell script just far enough to know where a value
 * may be inserted; base/expr/template_shell.h has the question.
 *
 * The rule on doubt is to refuse. `inside` is a construct that admits no value,
 * `contexts` are the constructs around the current place that do or end.
 * `trouble` is set for good at the first construct that dash and bash read
 * differently, because nothing after it is certain. `before` decides where a
 * comment or a word begins.
 *
 * A value is always one single-quoted word, so only the place matters, never
 * the value.
 */
#include "base/expr/template_shell.h"

#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"

static const struct {
    char inside;
    const char *refusal;
} refusals[] = {
    {'\'', "inside single quotes (smtune adds the quotes: remove "
           "yours)"},
    {'"', "inside double quotes (smtune adds the quotes: remove "
          "yours)"},
    {'`', "inside backquotes (use $(...))"},
    {'#', "inside a comment"},
    {'{', "inside ${...}"},
    {'+', "inside $((...)) (compute within the ${{ }})"},
    {'(', "inside ((...)) (compute within the ${{ }})"},
};

static const char *const too_nested =
    "behind quotes within $ and braces (put the value in a "
    "variable first)";

static void set_trouble(struct shell_scan *scan, const char *trouble)
{
    if (scan->trouble == NULL)
        scan->trouble = trouble;
}

/* '"', '$' for a $(...), '(' for any other one or none. */
static char context(const struct shell_scan *scan)
{
    return scan->depth > 0 ? scan->contexts[scan->depth - 1] : '(';
}

static void push(struct shell_scan *scan, char kind)
{
    if (scan->depth == SHELL_NESTING_MAX)
        set_trouble(scan, too_nested);
    else
        scan->contexts[scan->depth++] = kind;
}

static bool at_word_start(const struct shell_scan *scan)
{
    return strchr(" \t\n;&|()<>", scan->before) != NULL;
}

/* Within '...', `...`, ${...}, $((...)) or a comment. */
static size_t step_inside(struct shell_scan *scan, const char *at)
{
    char c = *at;

    if (scan->inside == '`' && c == '\\' && at[1] != '\0')
        return 2;
    if (strchr("'`#", scan->inside) != NULL) {
        if (c == (scan->inside == '#' ? '\n' : scan->inside))
            scan->inside = 0;
        return 1;
    }
    if (strchr("'\"`\\", c) != NULL ||
        (c == '$' && at[1] != '\0' && strchr("({'\"", at[1]) != NULL))
        set_trouble(scan, too_nested);
    if (scan->inside == '{' && c == '}')
        scan->inside = 0;
    if (scan->inside != '{' && c == '(')
        scan->parens++;
    if (scan->inside != '{' && c == ')' && --scan->parens == 0)
        scan->inside = 0;
    return 1;
}

static size_t step_dollar(struct shell_scan *scan, const char *at)
{
    if (at[1] == '\'' && context(scan) != '"')
        set_trouble(scan, "behind $'...', which shells read differently");
    if (at[1] == '$') {
        if (at[2] != '\0' && strchr("({['\"", at[2]) != NULL)
            set_trouble(scan, "behind $$ and a bracket or quote, which shells "
                              "read differently");
        return strncmp(at + 1, "$${{", 4) == 0 ? 1 : 2;
    }
    if (at[1] == '[')
        set_trouble(scan, "behind $[...], which shells read differently");
    if (at[1] == '{') {
        scan->inside = '{';
        return 2;
    }
    if (at[1] == '(' && at[2] == '(') {
        scan->inside = '+';
        scan->parens = 1;
        return 2;
    }
    if (at[1] == '(') {
        push(scan, '$');
        return 2;
    }
    return 1;
}

static size_t step_plain(struct shell_scan *scan, const char *at)
{
    switch (*at) {
    case '\'':
        scan->inside = '\'';
        break;
    case '"':
        push(scan, '"');
        break;
    case '#':
        if (at_word_start(scan))
            scan->inside = '#';
        break;
    case '(':
        /* on a mistake within, bash goes on with the next line of a value */
        if (scan->before == '=')
            set_trouble(scan, "behind an array (put the value in a "
                              "variable before it)");
        if (at[1] == '(') {
            scan->inside = '(';
            scan->parens = 1;
        } else {
            push(scan, strchr("<>", scan->before) != NULL ? '$' : '(');
        }
        break;
    case ')':
        if (scan->depth > 0)
            scan->depth--;
        break;
    case '<':
        if (at[1] == '<')
            set_trouble(
                scan,
                "behind a here-document (put the value in a variable first)");
        break;
    case 'c':
        /* its patterns end in a ')' of their own */
        if (scan->depth > 0 && at_word_start(scan) &&
            strncmp(at, "case", 4) == 0)
            set_trouble(scan, "behind a case within parentheses");
        break;
    default:
        break;
    }
    return 1;
}

size_t shell_scan_step(struct shell_scan *scan, const char *at)
{
    char was_inside = scan->inside, was_context = context(scan);
    int depth = scan->depth;
    size_t length;

    if (scan->inside == 0 && *at == '\\') {
        if (at[1] != '\n') /* a continued line goes on where it was */
            scan->before = 'x';
        return at[1] != '\0' ? 2 : 1;
    }
    if (scan->inside != 0) {
        length = step_inside(scan, at);
    } else if (*at == '`') {
        scan->inside = '`';
        length = 1;
    } else if (*at == '$') {
        length = step_dollar(scan, at);
    } else if (context(scan) == '"') {
        scan->depth -= *at == '"';
        length = 1;
    } else {
        length = step_plain(scan, at);
    }
    scan->before = at[length - 1];
    /* behind a $(...) the word goes on: a # there begins no comment */
    if ((was_context == '$' && scan->depth < depth) ||
        (was_inside == '+' && scan->inside == 0))
        scan->before = 'x';
    return length;
}

void shell_scan_value(struct shell_scan *scan)
{
    scan->before = '\'';
}

void shell_scan_literal(struct shell_scan *scan)
{
    if (scan->inside != '\'' && scan->inside != '#')
        set_trouble(scan, "behind a literal ${{");
    scan->before = '{';
}

const char *shell_scan_refusal(const struct shell_scan *scan)
{
    bool in_double = scan->inside == 0 && context(scan) == '"';
    char inside = in_double ? '"' : scan->inside;

    if (scan->trouble != NULL)
        return scan->trouble;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (refusals[i].inside == inside)
            return refusals[i].refusal;
    return NULL;
}

void shell_quote(const char *text, struct buf *out)
{
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++)
        if (*text == '\'')
            buf_add_string(out, "'\\''");
        else
            buf_add_char(out, *text);
    buf_add_char(out, '\'');
}

void shell_add_word(const char *word, struct buf *out)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-=";

    if (word[0] != '\0' && word[0] != '=' && word[strspn(word, safe)] == '\0')
        buf_add_string(out, word);
    else
        shell_quote(word, out);
}
