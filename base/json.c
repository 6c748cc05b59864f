/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Additions to jansson, for text that people read and text from outside.
 *
 * jansson prints 0.1 as 0.10000000000000001, so printing is done here, with the
 * shortest number that reads back as the same one. Its parser recurses up to
 * 2048 levels, too many for some stacks. So the depth of a text is counted
 * before jansson parses it. Its strings must be UTF-8: other bytes are escaped
 * instead of refused, because logs and file names contain them.
 */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"

enum { JSON_MAX_BYTES = 1 << 20, JSON_MAX_DEPTH = 64, INDENT_WIDTH = 2 };

struct value json_to_value(const json_t *json)
{
    if (json_is_boolean(json))
        return value_bool(json_typeof(json) == JSON_TRUE);
    if (json_is_integer(json))
        return value_int(json_integer_value(json));
    if (json_is_real(json))
        return value_real(json_real_value(json));
    return json_is_string(json) ? value_text(json_string_value(json))
                                : value_null();
}

json_t *json_from_real(double real)
{
    return isfinite(real) ? json_real(real) : json_null();
}

json_t *json_from_any_real(double real)
{
    char word[32];

    if (isfinite(real))
        return json_real(real);
    value_format_real(isnan(real) ? (double)NAN : real, word, sizeof(word));
    return json_string(word);
}

json_t *json_from_metric(double real)
{
    bool is_whole = fabs(real) < 0x1p53 && real == floor(real);

    return is_whole ? json_integer((json_int_t)real) : json_from_any_real(real);
}

double json_to_real(const json_t *json)
{
    if (json_is_string(json))
        return strtod(json_string_value(json), NULL);
    return json_is_number(json) ? json_number_value(json) : (double)NAN;
}

json_t *json_from_text(const char *text)
{
    struct buf escaped = BUF_INIT;
    json_t *json;

    if (text == NULL)
        return json_null();
    json = json_string(text);
    if (json != NULL)
        return json;
    text_escape(text, strlen(text), &escaped);
    json = json_string(buf_text(&escaped));
    buf_clear(&escaped);
    return json;
}

json_t *json_int_unless(int64_t integer, int64_t none)
{
    return integer == none ? json_null() : json_integer((json_int_t)integer);
}

json_t *json_text_unless_empty(const char *text)
{
    return text == NULL || text[0] == '\0' ? json_null() : json_from_text(text);
}

const char **json_texts(const json_t *list, size_t *count)
{
    const char **texts = mem_array(json_array_size(list), sizeof(*texts));

    *count = json_array_size(list);
    for (size_t i = 0; i < *count; i++)
        texts[i] = json_string_value(json_array_get(list, i));
    return texts;
}

json_t *json_from_value(const struct value *value)
{
    struct value number;

    switch (value->type) {
    case VALUE_BOOL:
        return json_boolean(value->boolean);
    case VALUE_INT:
        return json_integer(value->integer);
    case VALUE_REAL:
        return json_from_real(value->real);
    case VALUE_TEXT:
        return json_from_text(value->text);
    case VALUE_JSON:
        return json_loads(value->text, JSON_DECODE_ANY, NULL);
    case VALUE_NUMERAL:
        number = value_of_numeral(value);
        return json_from_value(&number);
    case VALUE_NULL:
    default:
        return json_null();
    }
}

static void new_line(struct buf *out, int indent)
{
    if (indent < 0)
        return;
    buf_add_char(out, '\n');
    for (int i = 0; i < indent * INDENT_WIDTH; i++)
        buf_add_char(out, ' ');
}

/* jansson writes 0.1 as 0.10000000000000001; a person reads these lines. */
static void print_real(double real, struct buf *out)
{
    char text[32];

    value_format_argument(real, text, sizeof(text));
    buf_add_string(out, text);
}

static int add_bytes(const char *bytes, size_t length, void *out)
{
    buf_add(out, bytes, length);
    return 0;
}

static void print(const json_t *json, int indent, struct buf *out);

static void print_array(const json_t *array, int indent, struct buf *out)
{
    size_t count = json_array_size(array);
    int inner = indent < 0 ? -1 : indent + 1;

    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        new_line(out, inner);
        print(json_array_get(array, i), inner, out);
    }
    if (count > 0)
        new_line(out, indent);
    buf_add_char(out, ']');
}

static void print_object(json_t *object, int indent, struct buf *out)
{
    int inner = indent < 0 ? -1 : indent + 1;
    void *at = json_object_iter(object);
    bool empty = at == NULL;
    json_t *key;

    buf_add_char(out, '{');
    for (; at != NULL; at = json_object_iter_next(object, at)) {
        new_line(out, inner);
        key = json_string(json_object_iter_key(at));
        print(key, inner, out);
        json_decref(key);
        buf_add_string(out, indent < 0 ? ":" : ": ");
        print(json_object_iter_value(at), inner, out);
        if (json_object_iter_next(object, at) != NULL)
            buf_add_char(out, ',');
    }
    if (!empty)
        new_line(out, indent);
    buf_add_char(out, '}');
}

/* `indent` is the depth of nesting so far, or -1 for one compact line. */
static void print(const json_t *json, int indent, struct buf *out)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        /* jansson iterates without changing, but does not say const */
        print_object((json_t *)(uintptr_t)json, indent, out);
        return;
    case JSON_ARRAY:
        print_array(json, indent, out);
        return;
    case JSON_REAL:
        print_real(json_real_value(json), out);
        return;
    case JSON_STRING:
    case JSON_INTEGER:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
    default:
        json_dump_callback(json, add_bytes, out,
                           JSON_ENCODE_ANY | JSON_COMPACT);
        return;
    }
}

void json_print(const json_t *json, struct buf *out)
{
    print(json, -1, out);
}

void json_print_pretty(const json_t *json, struct buf *out)
{
    print(json, 0, out);
    buf_add_char(out, '\n');
}

/* jansson escapes the control characters of ASCII alone, but for DEL, so those
 * that are left are of the layout. The others are all below U+10000. */
static void add_shown(const struct buf *text, struct buf *out)
{
    size_t plain = 0;

    for (size_t at = 0; at < text->length;) {
        uint32_t rune = 0;
        size_t bytes = 1;

        if ((unsigned char)text->data[at] >= 0x7f)
            bytes = text_next_rune(text->data + at, text->length - at, &rune);
        bytes += bytes == 0;
        if (rune > 0 && text_is_control(rune)) {
            buf_add(out, text->data + plain, at - plain);
            buf_printf(out, "\\u%04X", (unsigned)rune);
            plain = at + bytes;
        }
        at += bytes;
    }
    buf_add(out, buf_text(text) + plain, text->length - plain);
}

void json_show(const json_t *json, struct buf *out)
{
    struct buf text = BUF_INIT;

    json_print(json, &text);
    add_shown(&text, out);
    buf_clear(&text);
}

void json_show_pretty(const json_t *json, struct buf *out)
{
    struct buf text = BUF_INIT;

    json_print_pretty(json, &text);
    add_shown(&text, out);
    buf_clear(&text);
}

/* jansson's own limit of 2048 is compiled in, and its parser recurses. */
static int check_depth(const char *text, size_t length, struct err *err)
{
    bool in_string = false;
    int depth = 0, line = 1;
    size_t line_start = 0;

    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (c == '\n') {
            line++;
            line_start = i + 1;
        }
        if (c == '"')
            in_string = !in_string;
        else if (in_string && c == '\\')
            i++;
        else if (!in_string && (c == '[' || c == '{'))
            depth++;
        else if (!in_string && (c == ']' || c == '}'))
            depth--;
        if (depth > JSON_MAX_DEPTH) {
            err_set(err, ERR_FILE, "JSON nested deeper than %d",
                    JSON_MAX_DEPTH);
            if (err != NULL) {
                err->line = line;
                err->column = (int)(i - line_start) + 1;
            }
            return -1;
        }
    }
    return 0;
}

json_t *json_parse(const char *text, size_t length, struct err *err)
{
    return json_parse_up_to(text, length, JSON_MAX_BYTES, err);
}

json_t *json_parse_up_to(const char *text, size_t length, size_t max_bytes,
                         struct err *err)
{
    struct buf message = BUF_INIT;
    json_error_t why;
    json_t *json;

    if (length > max_bytes) {
        err_set(err, ERR_FILE, "JSON of %zu bytes, more than %zu", length,
                max_bytes);
        return NULL;
    }
    if (check_depth(text, length, err) < 0)
        return NULL;
    json = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES,
                      &why);
    if (json != NULL)
        return json;
    text_escape(why.text, strlen(why.text), &message);
    err_set(err, ERR_FILE, "not valid JSON: %s", buf_text(&message));
    buf_clear(&message);
    if (err != NULL) {
        err->line = why.line > 0 ? why.line : 1;
        err->column = why.column > 0 ? why.column : 1;
    }
    return NULL;
}
