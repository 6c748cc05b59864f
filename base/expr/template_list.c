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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template_parts.h"
#include "base/json.h"
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

static void add_text(const char *text, struct buf *out)
{
    if (is_plain(text))
        buf_add_string(out, text);
    else
        add_quoted(text, out);
}

static void add_json(const json_t *json, struct buf *out);

static void add_map(json_t *map, struct buf *out)
{
    const char *separator = "", *key;
    json_t *item;

    buf_add_char(out, '{');
    json_object_foreach(map, key, item)
    {
        buf_printf(out, "%s%s:", separator, key);
        add_json(item, out);
        separator = ",";
    }
    buf_add_char(out, '}');
}

/* Lists and maps of Hydra differ from JSON in their texts. */
static void add_json(const json_t *json, struct buf *out)
{
    if (json_is_string(json)) {
        add_text(json_string_value(json), out);
    } else if (json_is_object(json)) {
        add_map((json_t *)(uintptr_t)json, out);
    } else if (json_is_array(json)) {
        for (size_t i = 0; i < json_array_size(json); i++) {
            buf_add_char(out, i > 0 ? ',' : '[');
            add_json(json_array_get(json, i), out);
        }
        buf_add_string(out, json_array_size(json) > 0 ? "]" : "[]");
    } else {
        json_print(json, out);
    }
}

static void add_override(const struct value *value, struct buf *out)
{
    json_t *json = json_from_value(value);

    add_json(json, out);
    json_decref(json);
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

    if (value->type == VALUE_NULL)
        return;
    if (list == LIST_OVERRIDES) {
        buf_printf(&text, "%s=", name);
        add_override(value, &text);
        word_list_add(words, buf_take(&text));
        return;
    }
    if (value_is_null(value) || (is_flag && !value->boolean))
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

        add_argument(list, argument->name, &values[argument->column], words);
    }
}
