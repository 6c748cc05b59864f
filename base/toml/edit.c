/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value of a TOML text, replaced, added or removed in place.
 *
 * A key that is missing goes into the nearest table that there is. The lines of
 * a table come before all other headers, so a key may always be added behind
 * them. A table that is missing as well gets a header at the end of the text,
 * except in an item of an array of tables, of which a header there would name
 * the last, and in a table that dotted keys have made, which must not have a
 * header: there the new key is dotted.
 */
#include "base/toml/toml.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/toml/find.h"
#include "base/toml/scan.h"

enum { DELETE = 0x7f };

struct edit {
    struct buf *text;
    char *wanted; /* the key, with a dot behind each part */
    struct toml_found found;
};

static int begin(struct edit *edit, struct buf *text, const char *key,
                 struct err *err)
{
    struct buf wanted = BUF_INIT;

    buf_printf(&wanted, "%s.", key);
    edit->text = text;
    edit->wanted = buf_take(&wanted);
    return toml_find(buf_text(text), text->length, edit->wanted, &edit->found,
                     err);
}

static void replace(struct edit *edit, struct toml_span span, const char *by)
{
    struct buf changed = BUF_INIT;

    buf_add(&changed, buf_text(edit->text), span.start);
    buf_add_string(&changed, by);
    buf_add(&changed, buf_text(edit->text) + span.end,
            edit->text->length - span.end);
    buf_clear(edit->text);
    *edit->text = changed;
}

/* ---- what is added ---- */

static void add_span(const struct edit *edit, struct toml_span span,
                     struct buf *out)
{
    buf_add(out, buf_text(edit->text) + span.start, span.end - span.start);
}

/* The parts of the wanted key from one place to another. */
static void add_parts(const struct edit *edit, size_t at, size_t end,
                      struct buf *out)
{
    const char *separator = "";

    while (at < end) {
        size_t length = strcspn(edit->wanted + at, ".");

        buf_add_string(out, separator);
        toml_add_part(edit->wanted + at, length, out);
        at += length + 1;
        separator = ".";
    }
}

static const char *line_end(const struct edit *edit)
{
    const char *text = buf_text(edit->text), *end = strchr(text, '\n');

    return end != NULL && end > text && end[-1] == '\r' ? "\r\n" : "\n";
}

static bool ends_with_line(const struct edit *edit)
{
    return edit->text->length == 0 ||
           edit->text->data[edit->text->length - 1] == '\n';
}

/* Where the last part of the wanted key begins, of those that are missing. */
static size_t last_part(const struct edit *edit)
{
    size_t at = strlen(edit->wanted) - 1;

    while (at > edit->found.nearest.matched && edit->wanted[at - 1] != '.')
        at--;
    return at;
}

static void add_pair(const struct edit *edit, size_t from, const char *value,
                     struct buf *out)
{
    const struct toml_nearest *nearest = &edit->found.nearest;

    if (nearest->is_dotted) {
        add_span(edit, nearest->prefix, out);
        buf_add_char(out, '.');
    }
    add_parts(edit, from, strlen(edit->wanted), out);
    buf_printf(out, " = %s", value);
}

static void add_inline(const struct edit *edit, const char *value,
                       struct buf *out)
{
    const struct toml_nearest *nearest = &edit->found.nearest;

    buf_add_string(out, nearest->is_empty ? " " : ", ");
    add_pair(edit, nearest->matched, value, out);
    buf_add_string(out, nearest->is_empty ? " " : "");
}

static void add_line(const struct edit *edit, const char *value,
                     struct buf *out)
{
    const struct toml_nearest *nearest = &edit->found.nearest;
    bool is_at_end = nearest->at == edit->text->length;
    bool is_first = nearest->matched == 0 && !edit->found.has_lines;

    if (is_at_end && !ends_with_line(edit))
        buf_add_string(out, line_end(edit));
    add_span(edit, nearest->indent, out);
    add_pair(edit, nearest->matched, value, out);
    buf_add_string(out, line_end(edit));
    if (is_first && !is_at_end)
        buf_add_string(out, line_end(edit));
}

static void add_table(const struct edit *edit, const char *value,
                      struct buf *out)
{
    const struct toml_nearest *nearest = &edit->found.nearest;
    const char *end = line_end(edit);
    size_t last = last_part(edit);

    buf_printf(out, "%s%s[", ends_with_line(edit) ? "" : end,
               edit->text->length > 0 ? end : "");
    add_span(edit, nearest->prefix, out);
    if (nearest->matched > 0 && last > nearest->matched)
        buf_add_char(out, '.');
    add_parts(edit, nearest->matched, last, out);
    buf_printf(out, "]%s", end);
    add_pair(edit, last, value, out);
    buf_add_string(out, end);
}

static void add(struct edit *edit, const char *value)
{
    const struct toml_nearest *nearest = &edit->found.nearest;
    struct toml_span place = {nearest->at, nearest->at};
    bool has_lines =
        nearest->is_inline || nearest->is_dotted || nearest->is_in_item;
    struct buf added = BUF_INIT;

    if (nearest->is_inline) {
        add_inline(edit, value, &added);
    } else if (nearest->is_implied ||
               (!has_lines && last_part(edit) > nearest->matched)) {
        place.start = place.end = edit->text->length;
        add_table(edit, value, &added);
    } else {
        add_line(edit, value, &added);
    }
    replace(edit, place, buf_text(&added));
    buf_clear(&added);
}

int toml_set(struct buf *text, const char *key, const char *value,
             struct err *err)
{
    struct edit edit;
    int rc = begin(&edit, text, key, err);

    if (rc == 0 && edit.found.is_found)
        replace(&edit, edit.found.value, value);
    else if (rc == 0)
        add(&edit, value);
    free(edit.wanted);
    return rc;
}

int toml_remove(struct buf *text, const char *key, struct err *err)
{
    struct edit edit;
    int rc = begin(&edit, text, key, err);

    if (rc == 0 && edit.found.is_found)
        replace(&edit, edit.found.cut, "");
    free(edit.wanted);
    return rc;
}

/* ---- texts ---- */

/* What no reader of YAML takes as it is, or as the end of a line. */
static bool is_odd(uint32_t rune)
{
    return (rune >= 0x80 && rune < 0xa0) || rune == 0x2028 || rune == 0x2029 ||
           rune == 0xfeff || rune == 0xfffe || rune == 0xffff;
}

/* The bytes that it took; one where they are not UTF-8. */
static size_t add_rune(const char *text, size_t length, struct buf *out)
{
    uint32_t rune = 0;
    size_t bytes = text_next_rune(text, length, &rune);

    if (bytes > 0 && is_odd(rune))
        buf_printf(out, "\\u%04x", (unsigned)rune);
    else
        buf_add(out, text, bytes > 0 ? bytes : 1);
    return bytes > 0 ? bytes : 1;
}

void toml_add_text(const char *text, size_t length, struct buf *out)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_add_string(out, "\\n");
        else if (c == '\t')
            buf_add_string(out, "\\t");
        else if (c < ' ' || c == DELETE)
            buf_printf(out, "\\u%04x", c);
        else
            i += add_rune(text + i, length - i, out) - 1;
    }
    buf_add_char(out, '"');
}

bool toml_is_bare(const char *part, size_t length)
{
    bool is_bare = length > 0;

    for (size_t i = 0; i < length; i++)
        is_bare &= toml_is_bare_char(part[i]);
    return is_bare;
}

void toml_add_part(const char *part, size_t length, struct buf *out)
{
    if (toml_is_bare(part, length))
        buf_add(out, part, length);
    else
        toml_add_text(part, length, out);
}
