/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the source of one scalar is masked. What comes of it is again a scalar of
 * as many lines. A plain one gets quotes, because `*` begins an alias.
 */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/mask_impl.h"
#include "base/mask.h"

static const char blanks[] = " \t\r";

static bool begins_with(const struct piece *piece, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(piece->end - piece->at) >= length &&
           memcmp(piece->at, text, length) == 0;
}

static const char *find(const struct piece *piece, const char *text)
{
    return memmem(piece->at, (size_t)(piece->end - piece->at), text,
                  strlen(text));
}

bool piece_is(const struct piece *piece, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(piece->end - piece->at) == length &&
           memcmp(piece->at, word, length) == 0;
}

void piece_copy(const struct piece *piece, struct buf *out)
{
    buf_add(out, piece->at, (size_t)(piece->end - piece->at));
}

static void skip_blanks(struct piece *piece)
{
    while (piece->at < piece->end && isspace((unsigned char)*piece->at))
        piece->at++;
}

/* Behind the anchor and the tag before a value, and a comment there. */
static void skip_properties(struct piece *piece)
{
    while (piece->at < piece->end && strchr("&!#", *piece->at) != NULL) {
        bool is_comment = *piece->at == '#';

        while (piece->at < piece->end &&
               (is_comment ? *piece->at != '\n'
                           : !isspace((unsigned char)*piece->at)))
            piece->at++;
        skip_blanks(piece);
    }
}

/* ---- a value that is masked as a whole ---- */

/* The template that the piece begins with, where nothing in it can be a
 * secret: no text in quotes. Its length, or 0. */
static size_t template_length(const struct piece *piece)
{
    const char *end;

    if (!begins_with(piece, "${{"))
        return 0;
    end = find(piece, "}}");
    for (const char *at = piece->at; end != NULL && at < end; at++)
        if (strchr("'\"\\", *at) != NULL)
            return 0;
    if (end == NULL)
        return 0;
    return (size_t)(end - piece->at) + strlen("}}");
}

/* The rest of one line, without blanks around it. Whether it is masked. */
static bool mask_rest(struct piece rest, struct buf *out)
{
    bool is_masked = false, was_masked = false;

    while (rest.at < rest.end) {
        size_t length = template_length(&rest);

        if (length > 0) {
            buf_add(out, rest.at, length);
            was_masked = false;
        } else if (!was_masked) {
            buf_add_string(out, MASKED);
            was_masked = is_masked = true;
        }
        rest.at += length > 0 ? length : 1;
    }
    return is_masked;
}

bool mask_all(struct piece text, struct buf *out)
{
    bool is_masked = false;

    while (text.at < text.end) {
        const char *end = memchr(text.at, '\n', (size_t)(text.end - text.at));
        struct piece line = {text.at, end != NULL ? end : text.end};
        struct piece after = {line.end, line.end};

        while (line.at < line.end && strchr(blanks, *line.at) != NULL)
            buf_add_char(out, *line.at++);
        while (line.end > line.at && strchr(blanks, line.end[-1]) != NULL)
            line.end--;
        after.at = line.end;
        is_masked |= mask_rest(line, out);
        piece_copy(&after, out);
        if (end != NULL)
            buf_add_char(out, '\n');
        text.at = end != NULL ? end + 1 : text.end;
    }
    return is_masked;
}

/* An address stays one, so that the file can still be read. */
static bool mask_address(const struct piece *value, struct buf *out)
{
    static const char *const schemes[] = {"https://", "http://"};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (begins_with(value, schemes[i]) && find(value, "\n") == NULL) {
            buf_printf(out, "%s%s", schemes[i], MASKED);
            return true;
        }
    }
    return false;
}

static bool mask_plain(const struct piece *value, struct buf *out)
{
    static const char *const nulls[] = {"~", "null", "Null", "NULL"};
    struct buf inner = BUF_INIT;
    bool is_masked;

    for (size_t i = 0; i < ARRAY_LEN(nulls); i++) {
        if (piece_is(value, nulls[i])) {
            piece_copy(value, out);
            return false;
        }
    }
    if (mask_address(value, out))
        return true;
    is_masked = mask_all(*value, &inner);
    if (is_masked)
        buf_printf(out, "\"%s\"", buf_text(&inner));
    else
        piece_copy(value, out);
    buf_clear(&inner);
    return is_masked;
}

static bool mask_quoted(const struct piece *value, struct buf *out)
{
    struct piece inner = {value->at + 1, value->end - 1};
    bool is_masked = true;

    if (inner.end < inner.at)
        inner.end = inner.at;
    buf_add_char(out, *value->at);
    if (!mask_address(&inner, out))
        is_masked = mask_all(inner, out);
    buf_add_char(out, *value->at);
    return is_masked;
}

/* Behind the line with `|` or `>`. */
static bool mask_block(const struct piece *value, struct buf *out)
{
    struct piece head = *value, rest = *value;
    const char *end = find(value, "\n");

    head.end = rest.at = end != NULL ? end + 1 : value->end;
    mask_add(NULL, head.at, (size_t)(head.end - head.at), out);
    return mask_all(rest, out);
}

bool mask_scalar(const struct scalar_source *source, struct buf *out)
{
    struct piece value = {source->text, source->text + source->length};
    struct piece before = value;

    skip_properties(&value);
    before.end = value.at;
    mask_gap(NULL, before.at, (size_t)(before.end - before.at), out);
    if (value.at == value.end)
        return false;
    switch (source->style) {
    case SCALAR_PLAIN:
        return mask_plain(&value, out);
    case SCALAR_SINGLE:
    case SCALAR_DOUBLE:
        return mask_quoted(&value, out);
    case SCALAR_BLOCK:
        break;
    }
    return mask_block(&value, out);
}

/* ---- secrets within a text ---- */

/* 'It''s' */
static void double_quotes(const struct buf *text, struct buf *out)
{
    for (size_t i = 0; i < text->length; i++) {
        buf_add_char(out, text->data[i]);
        if (text->data[i] == '\'')
            buf_add_char(out, '\'');
    }
}

static void mask_in_single(const struct mask *mask, const struct piece *value,
                           struct buf *out)
{
    struct buf plain = BUF_INIT, shown = BUF_INIT;

    for (const char *at = value->at + 1; at < value->end - 1; at++) {
        buf_add_char(&plain, *at);
        at += *at == '\'';
    }
    mask_add(mask, buf_text(&plain), plain.length, &shown);
    buf_add_char(out, '\'');
    double_quotes(&shown, out);
    buf_add_char(out, '\'');
    buf_clear(&shown);
    buf_clear(&plain);
}

/* In "\nTOKEN=a" the letter of the escape is no part of the name: it is another
 * character meanwhile, which no file has. */
static const char letters[] = "ntr", stand_ins[] = "\x01\x02\x03";

static void hide_letters(const struct piece *text, struct buf *out)
{
    for (const char *at = text->at; at < text->end; at++) {
        const char *letter = NULL;

        buf_add_char(out, *at);
        if (*at != '\\' || ++at == text->end)
            continue;
        letter = strchr(letters, *at);
        buf_add_char(out, letter != NULL ? stand_ins[letter - letters] : *at);
    }
}

static void show_letters(const struct buf *text, struct buf *out)
{
    for (size_t i = 0; i < text->length; i++) {
        const char *stand_in = strchr(stand_ins, text->data[i]);

        buf_add_char(out, stand_in != NULL ? letters[stand_in - stand_ins]
                                           : text->data[i]);
    }
}

/* Without its quotes, which a mask must not take. */
static void mask_in_double(const struct mask *mask, const struct piece *value,
                           struct buf *out)
{
    const struct piece inner = {value->at + 1, value->end - 1};
    struct buf hidden = BUF_INIT, shown = BUF_INIT;

    hide_letters(&inner, &hidden);
    mask_add(mask, buf_text(&hidden), hidden.length, &shown);
    buf_add_char(out, '"');
    show_letters(&shown, out);
    buf_add_char(out, '"');
    buf_clear(&shown);
    buf_clear(&hidden);
}

/* Whether a text in double quotes is one still: a mask may have cut an escape.
 */
static bool is_sound(const char *at, const char *end)
{
    for (; at < end; at++) {
        size_t digits = 0;

        if (*at == '"')
            return false;
        if (*at != '\\')
            continue;
        if (++at == end || *at == '\0' ||
            strchr("0abt\tnvfre \"/\\N_LPxuU\n\r", *at) == NULL)
            return false;
        if (strchr("xuU", *at) != NULL)
            digits = *at == 'x' ? 2 : *at == 'u' ? 4 : 8;
        for (; digits > 0; digits--)
            if (++at >= end || !isxdigit((unsigned char)*at))
                return false;
    }
    return true;
}

/* Whether what is left of the value is a scalar of the same style. */
static bool is_scalar(enum scalar_style style, const struct buf *shown)
{
    if (shown->length == 0)
        return true;
    if (style == SCALAR_PLAIN)
        return shown->data[0] != '*';
    return style != SCALAR_DOUBLE || shown->length < 2 ||
           is_sound(shown->data + 1, shown->data + shown->length - 1);
}

bool mask_in_scalar(const struct mask *mask, const struct scalar_source *source,
                    struct buf *out)
{
    struct piece value = {source->text, source->text + source->length};
    struct piece before = value;
    struct buf shown = BUF_INIT;
    size_t length;
    bool is_masked;

    skip_properties(&value);
    before.end = value.at;
    length = (size_t)(value.end - value.at);
    if (source->style == SCALAR_SINGLE && length >= 2)
        mask_in_single(mask, &value, &shown);
    else if (source->style == SCALAR_DOUBLE && length >= 2)
        mask_in_double(mask, &value, &shown);
    else
        mask_add(mask, value.at, length, &shown);
    is_masked = shown.length != length ||
                memcmp(buf_text(&shown), value.at, length) != 0;
    if (is_masked && !is_scalar(source->style, &shown)) {
        buf_clear(&shown);
        return mask_scalar(source, out);
    }
    mask_gap(mask, before.at, (size_t)(before.end - before.at), out);
    buf_add(out, buf_text(&shown), shown.length);
    buf_clear(&shown);
    return is_masked;
}

/* Behind punctuation, anchors and aliases, which no secret is in; NULL: the
 * line has none. */
static const char *find_comment(const char *line, const char *end)
{
    for (const char *at = line; at < end; at++)
        if (*at == '#' && (at == line || isspace((unsigned char)at[-1])))
            return at;
    return NULL;
}

/* A quote in a comment must not reach the next line. */
void mask_gap(const struct mask *mask, const char *text, size_t length,
              struct buf *out)
{
    const char *end = text + length;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text)), *comment;

        stop = stop != NULL ? stop + 1 : end;
        comment = find_comment(text, stop);
        comment = comment != NULL ? comment : stop;
        buf_add(out, text, (size_t)(comment - text));
        mask_add(mask, comment, (size_t)(stop - comment), out);
        text = stop;
    }
}
