/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/text_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/old_functions.h"
#include "base/json.h"
#include "base/mem.h"

/* NULL of a null; lives as long as the value. */
static const char *text_of(sqlite3_value *value)
{
    return (const char *)sqlite3_value_text(value);
}

static void give_text(sqlite3_context *context, const char *text, size_t length)
{
    sqlite3_result_text(context, mem_copy_bytes(text, length), (int)length,
                        free);
}

/* ---- paths ---- */

static void compute_basename(sqlite3_context *context, UNUSED int count,
                             sqlite3_value **arguments)
{
    const char *path = text_of(arguments[0]);
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    if (slash != NULL)
        path = slash + 1;
    if (path != NULL)
        give_text(context, path, strlen(path));
}

static void compute_dirname(sqlite3_context *context, UNUSED int count,
                            sqlite3_value **arguments)
{
    const char *path = text_of(arguments[0]);
    size_t length = path != NULL ? strlen(path) : 0;

    if (path == NULL)
        return;
    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 0 && path[length - 1] == '/')
        length--;
    if (length > 0)
        give_text(context, path, length);
    else
        give_text(context, path[0] == '/' ? "/" : ".", 1);
}

static void compute_strip_extension(sqlite3_context *context, UNUSED int count,
                                    sqlite3_value **arguments)
{
    const char *path = text_of(arguments[0]);
    const char *dot = path != NULL ? strrchr(path, '.') : NULL;

    if (path == NULL)
        return;
    if (dot != NULL && strchr(dot, '/') != NULL)
        dot = NULL;
    give_text(context, path, dot != NULL ? (size_t)(dot - path) : strlen(path));
}

/* ---- objects ---- */

static void give_json(sqlite3_context *context, const json_t *json)
{
    struct buf text = BUF_INIT;

    json_print(json, &text);
    give_text(context, buf_text(&text), text.length);
    buf_clear(&text);
}

static void give_item(sqlite3_context *context, const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_STRING:
        give_text(context, json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        sqlite3_result_int64(context, json_integer_value(json));
        break;
    case JSON_REAL:
        sqlite3_result_double(context, json_real_value(json));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        sqlite3_result_int(context, json_is_true(json));
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
        give_json(context, json);
        break;
    case JSON_NULL:
    default: /* which is SQLite's null */
        break;
    }
}

static void refuse_key(sqlite3_context *context, const char *key)
{
    char *message = mem_printf("field(): no key '%s'", key);

    sqlite3_result_error(context, message, -1);
    free(message);
}

static void compute_field(sqlite3_context *context, UNUSED int count,
                          sqlite3_value **arguments)
{
    const char *text = text_of(arguments[0]), *key = text_of(arguments[1]);
    json_t *object, *item;

    if (text == NULL || key == NULL)
        return;
    object = json_parse(text, strlen(text), NULL);
    item = json_object_get(object, key);
    if (!json_is_object(object))
        sqlite3_result_error(context, "field() takes a JSON object and a key",
                             -1);
    else if (item == NULL)
        refuse_key(context, key);
    else
        give_item(context, item);
    json_decref(object);
}

int text_functions_add(sqlite3 *db)
{
    static const struct {
        const char *name;
        int count;
        void (*compute)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"basename", 1, compute_basename},
        {"dirname", 1, compute_dirname},
        {"strip_extension", 1, compute_strip_extension},
        {"field", 2, compute_field},
    };
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = SQLITE_OK;

    for (size_t i = 0; i < ARRAY_LEN(functions) && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(
            db, functions[i].name, functions[i].count, flags, NULL,
            functions[i].compute, NULL, NULL, NULL);
    return code;
}
