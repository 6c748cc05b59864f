/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of arguments: ${{ args }}, ${{ args(flags) }} and ${{ overrides }}.
 *
 * Hydra reads the value of an override by a grammar of its own: 1 is a number,
 * null is nothing, a comma parts a sweep. A text that the grammar would read as
 * anything else than this text is put in single quotes, in which only the quote
 * and ${ have a meaning.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template_parts.h"
#include "base/mem.h"

/* Whether Hydra reads the text as itself without quotes. */
static bool is_plain(const char *text)
{
    static const char *const others[] = {"true", "false", "null", "inf",
                                         "nan",  "+inf",  "-inf"};
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/-.";
    bool has_letter = false;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcasecmp(text, others[i]) == 0)
            return false;
    for (const char *c = text; *c != '\0'; c++)
        has_letter |= isalpha((unsigned char)*c) && tolower(*c) != 'e';
    return has_letter && text[strspn(text, safe)] == '\0';
}

/* Backslashes count before a quote, and before ${, which would be replaced. */
static void add_quoted(const char *text, struct buf *out)
{
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        size_t slashes = strspn(text, "\\");
        const char *next = text + slashes;
        bool counts =
            *next == '\'' || *next == '\0' || strncmp(next, "${", 2) == 0;

        for (size_t i = 0; i < (counts ? 2 * slashes : slashes); i++)
            buf_add_char(out, '\\');
        text = next;
        if (*text == '\0')
            break;
        if (counts)
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '\'');
}

static void add_override(const struct value *value, struct buf *out)
{
    if (value->type != VALUE_TEXT || is_plain(value->text))
        value_print_argument(value, out);
    else
        add_quoted(value->text, out);
}

static char *print(const struct value *value)
{
    struct buf text = BUF_INIT;

    value_print_argument(value, &text);
    return buf_take(&text);
}

static void add_argument(enum template_list list, const char *name,
                         const struct value *value, struct word_list *words)
{
    bool is_flag = list == LIST_FLAGS && value->type == VALUE_BOOL;
    struct buf text = BUF_INIT;

    if (list == LIST_OVERRIDES) {
        buf_printf(&text, "%s=", name);
        add_override(value, &text);
        word_list_add(words, buf_take(&text));
        return;
    }
    if (is_flag && !value->boolean)
        return;
    word_list_add(words, mem_printf("--%s", name));
    if (!is_flag)
        word_list_add(words, print(value));
}

void template_list_arguments(const struct template *template,
                             enum template_list list,
                             const struct value *values,
                             struct word_list *words)
{
    for (size_t i = 0; i < template->argument_count; i++) {
        const struct template_argument *argument = &template->arguments[i];
        const struct value *value = &values[argument->column];

        if (value->type != VALUE_NULL)
            add_argument(list, argument->name, value, words);
    }
}
