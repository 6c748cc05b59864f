/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/file_print.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/value.h"

/* jansson walks over what it may change. */
static json_t *walked(const json_t *json)
{
    return (json_t *)(uintptr_t)json;
}

/* JSON's form of a text is that of both formats, too. */
static void add_text(const char *text, struct buf *out)
{
    json_t *json = json_from_text(text);

    json_print(json, out);
    json_decref(json);
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
    else
        json_print(json, out);
}

static bool is_bare_key(const char *key)
{
    for (const char *c = key; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            return false;
    return *key != '\0';
}

/* A key that is a word in neither format. */
static void add_key(const char *key, struct buf *out)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    bool is_plain = is_bare_key(key) && isalpha((unsigned char)*key);

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        is_plain &= strcasecmp(words[i], key) != 0;
    if (is_plain)
        buf_add_string(out, key);
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
            add_scalar(item, out);
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
        add_key(key, out);
        buf_add_char(out, ':');
        if (!is_nested(item)) {
            buf_add_char(out, ' ');
            add_scalar(item, out);
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

static int toml_value(const json_t *json, struct buf *out, struct err *err);

static int toml_list(const json_t *list, struct buf *out, struct err *err)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i > 0)
            buf_add_string(out, ", ");
        if (toml_value(json_array_get(list, i), out, err) != 0)
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
        if (json_is_null(item))
            continue;
        buf_add_string(out, separator);
        add_key(key, out);
        buf_add_string(out, " = ");
        if (toml_value(item, out, err) != 0)
            return -1;
        separator = ", ";
    }
    buf_add_string(out, " }");
    return 0;
}

static int toml_value(const json_t *json, struct buf *out, struct err *err)
{
    if (json_is_null(json))
        return err_set(err, ERR_FILE, "TOML has no null in a list");
    if (json_is_array(json))
        return toml_list(json, out, err);
    if (json_is_object(json))
        return toml_inline(json, out, err);
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
        if (json_is_null(item) || json_is_object(item))
            continue;
        add_key(key, out);
        buf_add_string(out, " = ");
        if (toml_value(item, out, err) != 0)
            return err_prefix(err, "'%s'", key);
        buf_add_char(out, '\n');
    }
    json_object_foreach(walked(table), key, item)
    {
        struct buf name = BUF_INIT;

        if (!json_is_object(item) || rc != 0)
            continue;
        buf_add_string(&name, prefix);
        add_key(key, &name);
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
