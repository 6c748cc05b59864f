/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/value_file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"

static const char blanks[] = " \t\r\n\v\f";

/* -- JSON -----------------------------------------------------------------*/

static bool ends_in_json(const char *name)
{
    size_t length = strlen(name);

    return length >= 5 && strcmp(name + length - 5, ".json") == 0;
}

static json_t *parse_json(const char *name, const char *text, size_t length,
                          struct err *err)
{
    struct err why;
    json_t *json = json_parse_up_to(text, length, VALUE_FILE_BYTES_MAX, &why);

    if (json_is_object(json))
        return json;
    if (json == NULL)
        err_set(err, ERR_FILE, "'%s' is not JSON: line %d, column %d: %s", name,
                why.line, why.column, why.text);
    else
        err_set(err, ERR_FILE, "type mismatch: '%s' is not a JSON object",
                name);
    json_decref(json);
    return NULL;
}

/* -- Lines ----------------------------------------------------------------*/

struct piece { /* of the text */
    const char *at;
    size_t length;
};

static struct piece trim(struct piece piece)
{
    while (piece.length > 0 && strchr(blanks, piece.at[0]) != NULL) {
        piece.at++;
        piece.length--;
    }
    while (piece.length > 0 &&
           strchr(blanks, piece.at[piece.length - 1]) != NULL)
        piece.length--;
    return piece;
}

/* No hexadecimal, infinity or NaN, which strtod would take; nor 007. */
static bool may_be_number(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');

    return text[strspn(text, "+-.0123456789eE")] == '\0' &&
           !(digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9');
}

static json_t *number_from(const char *text)
{
    long long integer;
    char *end;
    double real;

    if (!may_be_number(text))
        return NULL;
    errno = 0;
    integer = strtoll(text, &end, 10);
    if (end != text && *end == '\0') /* more digits are an id, or the like */
        return errno == 0 ? json_integer(integer) : NULL;
    real = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(real) ? json_real(real)
                                                         : NULL;
}

static json_t *word_from(const char *text)
{
    if (strcmp(text, "true") == 0)
        return json_true();
    return strcmp(text, "false") == 0 ? json_false() : number_from(text);
}

/* NULL where it is no UTF-8. */
static json_t *value_from(struct piece piece)
{
    char quote = piece.length > 1 ? piece.at[0] : '\0';
    char *text;
    json_t *json;

    if ((quote == '"' || quote == '\'') && piece.at[piece.length - 1] == quote)
        return json_stringn(piece.at + 1, piece.length - 2);
    text = mem_copy_bytes(piece.at, piece.length);
    json = word_from(text);
    free(text);
    return json != NULL ? json : json_stringn(piece.at, piece.length);
}

/* What was written, where a number has another form. */
static void keep_text(struct value_file *file, const char *name,
                      struct piece written)
{
    const json_t *json = json_object_get(file->values, name);
    struct value value = json_to_value(json);
    struct buf text = BUF_INIT;

    value_print_argument(&value, &text);
    if (json_is_number(json) &&
        (text.length != written.length ||
         memcmp(buf_text(&text), written.at, written.length) != 0))
        json_object_set_new(file->texts, name,
                            json_stringn(written.at, written.length));
    else
        json_object_del(file->texts, name);
    buf_clear(&text);
}

static int add_line(struct value_file *file, struct piece line, struct err *err)
{
    const char *equals;
    struct piece key, value;
    char *name;
    int result;

    if (line.length == 0 || line.at[0] == '#')
        return 0;
    equals = memchr(line.at, '=', line.length);
    if (equals == NULL)
        return err_set(err, ERR_FILE, "expected KEY=VALUE");
    key = trim((struct piece){line.at, (size_t)(equals - line.at)});
    value = trim((struct piece){equals + 1,
                                line.length - (size_t)(equals + 1 - line.at)});
    if (key.length == 0)
        return err_set(err, ERR_FILE, "missing key before '='");
    name = mem_copy_bytes(key.at, key.length);
    result = json_object_set_new(file->values, name, value_from(value));
    if (result == 0)
        keep_text(file, name, value);
    free(name);
    return result == 0 ? 0 : err_set(err, ERR_FILE, "not UTF-8");
}

static int parse_lines(const char *name, const char *text, size_t length,
                       struct value_file *file, struct err *err)
{
    size_t number = 1;
    struct err why;

    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        struct piece line = {text + at, end != NULL ? (size_t)(end - text) - at
                                                    : length - at};

        if (add_line(file, trim(line), &why) != 0)
            return err_set(err, ERR_FILE, "line %zu of '%s': %s", number, name,
                           why.text);
        at += line.length + 1;
    }
    return 0;
}

int value_file_parse(const char *name, const char *text, size_t length,
                     struct value_file *file, struct err *err)
{
    struct piece all = trim((struct piece){text, length});

    *file = (struct value_file){NULL, NULL};
    if (memchr(text, '\0', length) != NULL)
        return err_set(err, ERR_FILE, "'%s' contains a NUL character", name);
    file->texts = json_object();
    if (ends_in_json(name) || (all.length > 0 && all.at[0] == '{')) {
        file->values = parse_json(name, text, length, err);
        return file->values != NULL ? 0 : -1;
    }
    file->values = json_object();
    return parse_lines(name, text, length, file, err);
}

void value_file_clear(struct value_file *file)
{
    json_decref(file->values);
    json_decref(file->texts);
    *file = (struct value_file){NULL, NULL};
}

/* -- Keys -----------------------------------------------------------------*/

static const json_t *find(const json_t *object, const char *key)
{
    const json_t *found = json_object_get(object, key);
    const char *dot = key;

    while (found == NULL && (dot = strchr(dot, '.')) != NULL) {
        char *head = mem_copy_bytes(key, (size_t)(dot - key));
        const json_t *inner = json_object_get(object, head);

        free(head);
        dot++;
        if (json_is_object(inner))
            found = find(inner, dot);
    }
    return found;
}

static const char *nearest_key(const json_t *object, const char *key)
{
    json_t *all = (json_t *)(uintptr_t)object;
    const char **names = mem_array(json_object_size(object), sizeof(*names));
    void *at = json_object_iter(all);
    const char *nearest;
    size_t count = 0;

    for (; at != NULL; at = json_object_iter_next(all, at))
        names[count++] = json_object_iter_key(at);
    nearest = text_nearest(key, names, count);
    free(names);
    return nearest;
}

const json_t *value_file_find(const json_t *object, const char *key,
                              struct err *err)
{
    const json_t *found = find(object, key);
    const char *nearest;

    if (found != NULL)
        return found;
    nearest = nearest_key(object, key);
    if (nearest != NULL)
        err_set(err, ERR_FILE, "missing key '%s' (did you mean '%s'?)", key,
                nearest);
    else
        err_set(err, ERR_FILE, "missing key '%s'", key);
    return NULL;
}
