/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/text.h"
#include "workflows/matrix.h"

/* The axis of a file of lines. The file is read when its step begins; what it
 * has then goes into the record. */

static int refuse(size_t number, const char *why, struct err *err)
{
    return err_set(err, ERR_FILE, "line %zu: %s", number, why);
}

static json_t *text_value(const char *line, size_t length, size_t number,
                          struct err *err)
{
    json_t *value = NULL;

    if (memchr(line, '\0', length) != NULL)
        refuse(number, "it contains a NUL byte", err);
    else if ((value = json_stringn(line, length)) == NULL)
        refuse(number, "it is not UTF-8", err);
    return value;
}

/* An object is kept as its text, which field() reads. */
static json_t *json_value(const char *line, size_t length, size_t number,
                          struct err *err)
{
    struct err why = {0};
    json_t *value = json_parse_up_to(line, length, MATRIX_BYTES_MAX, &why);
    struct buf text = BUF_INIT;

    if (value == NULL) {
        refuse(number, why.text, err);
        return NULL;
    }
    if (json_is_null(value) || json_is_array(value)) {
        refuse(number,
               "type mismatch: expected a text, a number, a boolean or an "
               "object",
               err);
        json_decref(value);
        return NULL;
    }
    if (json_is_object(value)) {
        json_print(value, &text);
        json_decref(value);
        value = json_stringn(buf_text(&text), text.length);
        buf_clear(&text);
    }
    return value;
}

json_t *matrix_axis_from_line_text(const char *text, size_t length,
                                   bool is_json, struct err *err)
{
    json_t *list = json_array();
    size_t number = 0;
    const char *end;

    text_skip_mark(&text, &length);
    end = text + length;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t bytes = (size_t)((stop != NULL ? stop : end) - text);
        json_t *value;

        number++;
        if (bytes > 0 && text[bytes - 1] == '\r')
            bytes--;
        if (!text_is_blank(text, bytes)) {
            value = is_json ? json_value(text, bytes, number, err)
                            : text_value(text, bytes, number, err);
            if (value == NULL) {
                json_decref(list);
                return NULL;
            }
            json_array_append_new(list, value);
        }
        text = stop != NULL ? stop + 1 : end;
    }
    return list;
}

json_t *matrix_axis_from_lines(const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    json_t *list = NULL;

    if (fs_read_regular(path, MATRIX_BYTES_MAX, &text, err) == 0) {
        list = matrix_axis_from_line_text(buf_text(&text), text.length,
                                          text_ends_with(path, ".jsonl"), err);
        if (list == NULL)
            err_prefix(err, "'%s'", path);
    }
    buf_clear(&text);
    return list;
}
