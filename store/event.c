/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event table and the JSON of its details. Each change of the store adds
 * its event in the same transaction; `smtune fsck` and `smtune replay` rebuild
 * the other tables from these rows. A detail must therefore keep values
 * exactly: a real keeps its point or exponent, and NaN and infinities become
 * words.
 *
 * Details are built in the store's scratch buffer, one at a time, because most
 * transactions add several events.
 */
#include "store/event.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/value.h"
#include "store/store_impl.h"

int event_add(struct store *store, const struct event *event, struct err *err)
{
    return store_change(
        store, INSERT_EVENT,
        VALUES(value_int(event->run), int_unless(event->job, 0),
               int_unless(event->attempt, 0), value_int(event->time_ms),
               value_text(event->event), value_text(event->detail)),
        err);
}

struct buf *detail_start(struct store *store)
{
    buf_truncate(&store->scratch, 0);
    buf_add_char(&store->scratch, '{');
    return &store->scratch;
}

static void detail_key(struct buf *out, const char *key)
{
    if (out->length > 1)
        buf_add_char(out, ',');
    buf_add_char(out, '"');
    buf_add_string(out, key);
    buf_add_string(out, "\":");
}

static void add_quoted(struct buf *out, const char *text)
{
    buf_add_char(out, '"');
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20) {
            buf_printf(out, "\\u%04x", (unsigned)*text);
            continue;
        }
        if (*text == '"' || *text == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '"');
}

void detail_text(struct buf *out, const char *key, const char *text)
{
    if (text == NULL)
        return;
    detail_key(out, key);
    add_quoted(out, text);
}

void detail_int(struct buf *out, const char *key, int64_t integer)
{
    detail_key(out, key);
    buf_printf(out, "%" PRId64, integer);
}

void detail_int_unless_0(struct buf *out, const char *key, int64_t integer)
{
    if (integer != 0)
        detail_int(out, key, integer);
}

void detail_list(struct buf *out, const double *reals, size_t count)
{
    char text[32];

    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        value_format_real(reals[i], text, sizeof(text));
        buf_printf(out, isfinite(reals[i]) ? "%s" : "\"%s\"", text);
    }
    buf_add_char(out, ']');
}

void detail_reals(struct buf *out, const char *key, const double *reals,
                  size_t count)
{
    detail_key(out, key);
    detail_list(out, reals, count);
}

static void add_value(struct buf *out, const struct value *value)
{
    size_t start = out->length;

    switch (value->type) {
    case VALUE_NULL:
        buf_add_string(out, "null");
        break;
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NUMERAL:
        add_quoted(out, value->text);
        break;
    case VALUE_REAL:
        value_print(value, out);
        if (strpbrk(buf_text(out) + start, ".e") == NULL)
            buf_add_string(out, ".0");
        break;
    case VALUE_BOOL:
    case VALUE_INT:
        value_print(value, out);
        break;
    }
}

void detail_value(struct buf *out, const char *key, const struct value *value)
{
    detail_key(out, key);
    add_value(out, value);
}

void detail_values(struct buf *out, const char *key, const struct value *values,
                   size_t count)
{
    detail_key(out, key);
    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_value(out, &values[i]);
    }
    buf_add_char(out, ']');
}

void detail_texts(struct buf *out, const char *key, const char *const *texts,
                  size_t count)
{
    detail_key(out, key);
    buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_quoted(out, texts[i]);
    }
    buf_add_char(out, ']');
}

const char *detail_end(struct buf *out)
{
    buf_add_char(out, '}');
    return buf_text(out);
}
