/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON objects printed as YAML, TOML and JSON for a program.
 *
 * jansson holds no infinity, no NaN and no text that is printed as it is. These
 * are texts here that begin with a NUL, which a text of a file never has.
 * Behind it is the number as value_format_real prints it, or PLAIN and the
 * text. A key has no NUL in it: one that is printed as it is begins with
 * PLAIN_KEY.
 */
#include "orchestrator/job/file_print.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/toml/toml.h"
#include "base/value.h"

enum { PLAIN = '=', PLAIN_KEY = '\1' };

/* jansson walks over what it may change. */
static json_t *walked(const json_t *json)
{
    return (json_t *)(uintptr_t)json;
}

/* TOML's form of a text is YAML's, too. */
static void add_text(const char *text, struct buf *out)
{
    toml_add_text(text, strlen(text), out);
}

json_t *file_print_real(double real)
{
    char word[32] = "";

    if (isfinite(real))
        return json_real(real);
    value_format_real(isnan(real) ? (double)NAN : real, word + 1,
                      sizeof(word) - 1);
    return json_stringn(word, 1 + strlen(word + 1));
}

json_t *file_print_plain(const char *text)
{
    struct buf marked = BUF_INIT;
    json_t *json;

    buf_add_char(&marked, '\0');
    buf_add_char(&marked, PLAIN);
    buf_add_string(&marked, text);
    json = json_stringn(buf_text(&marked), marked.length);
    buf_clear(&marked);
    return json;
}

char *file_print_plain_key(const char *text)
{
    return mem_printf("%c%s", PLAIN_KEY, text);
}

/* What is behind a NUL: "inf", "-inf", "nan" or a plain text with PLAIN before
 * it; NULL for anything else. */
static const char *find_word(const json_t *json)
{
    return json_string_length(json) > 0 && *json_string_value(json) == '\0'
               ? json_string_value(json) + 1
               : NULL;
}

/* 1e-05 as 1.0e-05. */
static void add_real(double real, struct buf *out)
{
    char text[32];
    size_t digits;

    value_format_argument(real, text, sizeof(text));
    digits = strcspn(text, "e");
    buf_add(out, text, digits);
    if (memchr(text, '.', digits) == NULL)
        buf_add_string(out, ".0");
    buf_add_string(out, text + digits);
}

static void add_scalar(const json_t *json, struct buf *out)
{
    if (json_is_real(json))
        add_real(json_real_value(json), out);
    else if (json_is_string(json))
        add_text(json_string_value(json), out);
    else
        json_print(json, out);
}

static void yaml_key(const char *key, struct buf *out)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    bool is_plain =
        toml_is_bare(key, strlen(key)) && isalpha((unsigned char)*key);

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        is_plain &= strcasecmp(words[i], key) != 0;
    if (is_plain || *key == PLAIN_KEY)
        buf_add_string(out, key + (*key == PLAIN_KEY));
    else
        add_text(key, out);
}

/* ---- YAML ---- */

static void indent(struct buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_add_string(out, "  ");
}

static bool is_empty(const json_t *json)
{
    return (json_is_object(json) && json_object_size(json) == 0) ||
           (json_is_array(json) && json_array_size(json) == 0);
}

static bool is_nested(const json_t *json)
{
    return (json_is_object(json) || json_is_array(json)) && !is_empty(json);
}

static void yaml_map(const json_t *map, int depth, bool is_in_line,
                     struct buf *out);

/* The words of numbers have a dot: .inf, -.inf, .nan. */
static void yaml_scalar(const json_t *json, struct buf *out)
{
    const char *word = find_word(json);

    if (word != NULL && *word == PLAIN)
        buf_add_string(out, word + 1);
    else if (word != NULL)
        buf_printf(out, "%s.%s", *word == '-' ? "-" : "",
                   word + (*word == '-'));
    else
        add_scalar(json, out);
}

static void yaml_list(const json_t *list, int depth, struct buf *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        indent(out, depth);
        buf_add_string(out, "-");
        if (json_is_object(item) && !is_empty(item)) {
            buf_add_char(out, ' ');
            yaml_map(item, depth + 1, true, out);
        } else if (is_nested(item)) {
            buf_add_char(out, '\n');
            yaml_list(item, depth + 1, out);
        } else {
            buf_add_char(out, ' ');
            yaml_scalar(item, out);
            buf_add_char(out, '\n');
        }
    }
}

/* is_in_line: the first key is behind the dash of a list. */
static void yaml_map(const json_t *map, int depth, bool is_in_line,
                     struct buf *out)
{
    const char *key;
    json_t *item;

    json_object_foreach(walked(map), key, item)
    {
        if (!is_in_line)
            indent(out, depth);
        is_in_line = false;
        yaml_key(key, out);
        buf_add_char(out, ':');
        if (!is_nested(item)) {
            buf_add_char(out, ' ');
            yaml_scalar(item, out);
            buf_add_char(out, '\n');
            continue;
        }
        buf_add_char(out, '\n');
        if (json_is_object(item))
            yaml_map(item, depth + 1, false, out);
        else
            yaml_list(item, depth + 1, out);
    }
}

void file_print_yaml(const json_t *object, struct buf *out)
{
    if (is_empty(object))
        buf_add_string(out, "{}\n");
    else
        yaml_map(object, 0, false, out);
}

/* ---- TOML ---- */

static int toml_list(const json_t *list, struct buf *out, struct err *err)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i > 0)
            buf_add_string(out, ", ");
        if (file_print_toml_value(json_array_get(list, i), out, err) != 0)
            return -1;
    }
    buf_add_char(out, ']');
    return 0;
}

static int toml_inline(const json_t *map, struct buf *out, struct err *err)
{
    const char *separator = " ", *key;
    json_t *item;

    buf_add_char(out, '{');
    json_object_foreach(walked(map), key, item)
    {
        buf_add_string(out, separator);
        toml_add_part(key, strlen(key), out);
        buf_add_string(out, " = ");
        if (file_print_toml_value(item, out, err) != 0)
            return err_prefix(err, "'%s'", key);
        separator = ", ";
    }
    buf_add_string(out, " }");
    return 0;
}

int file_print_toml_value(const json_t *json, struct buf *out, struct err *err)
{
    const char *word = find_word(json);

    if (json_is_null(json))
        return err_set(err, ERR_FILE, "TOML has no null");
    if (json_is_array(json))
        return toml_list(json, out, err);
    if (json_is_object(json))
        return toml_inline(json, out, err);
    if (word != NULL)
        buf_add_string(out, word);
    else
        add_scalar(json, out);
    return 0;
}

/* The values of a table first, then the tables in it, whose names begin with
 * `prefix`. */
static int toml_table(const json_t *table, const char *prefix, struct buf *out,
                      struct err *err)
{
    const char *key;
    json_t *item;
    int rc = 0;

    json_object_foreach(walked(table), key, item)
    {
        if (json_is_object(item))
            continue;
        toml_add_part(key, strlen(key), out);
        buf_add_string(out, " = ");
        if (file_print_toml_value(item, out, err) != 0)
            return err_prefix(err, "'%s'", key);
        buf_add_char(out, '\n');
    }
    json_object_foreach(walked(table), key, item)
    {
        struct buf name = BUF_INIT;

        if (!json_is_object(item) || rc != 0)
            continue;
        buf_add_string(&name, prefix);
        toml_add_part(key, strlen(key), &name);
        buf_printf(out, "%s[%s]\n", out->length > 0 ? "\n" : "",
                   buf_text(&name));
        buf_add_char(&name, '.');
        rc = toml_table(item, buf_text(&name), out, err);
        buf_clear(&name);
    }
    return rc;
}

int file_print_toml(const json_t *object, struct buf *out, struct err *err)
{
    return toml_table(object, "", out, err);
}

/* ---- JSON ---- */

/* The key of a number that JSON has no form for, in the map or list; NULL where
 * there is none. In a list it is the list's own, `name`. */
static const char *find_unprintable(const json_t *json, const char *name)
{
    const char *key, *found = NULL;
    json_t *item;

    if (find_word(json) != NULL)
        return name;
    for (size_t i = 0; i < json_array_size(json) && found == NULL; i++)
        found = find_unprintable(json_array_get(json, i), name);
    json_object_foreach(walked(json), key, item)
    {
        if (found == NULL)
            found = find_unprintable(item, key);
    }
    return found;
}

int file_print_json(const json_t *object, struct buf *out, struct err *err)
{
    const char *key = find_unprintable(object, "");

    if (key != NULL)
        return err_set(err, ERR_FILE, "'%s': JSON has no inf and no nan", key);
    json_print_pretty(object, out);
    return 0;
}
