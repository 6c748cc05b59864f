/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

enum { ESCAPE = 0x1b, BELL = 0x07, COLOUR_MAX_BYTES = 64 };

static bool is_between(char c, int first, int last)
{
    return (unsigned char)c >= first && (unsigned char)c <= last;
}

/* A control of U+0080 to U+009F, each of which stands for ESC and a character.
 */
static bool is_c1(const char *text, size_t length)
{
    return length >= 2 && text[0] == (char)0xc2 &&
           is_between(text[1], 0x80, 0x9f);
}

/* Behind the text of a title or a link, which ends with BEL, ESC \ or U+009C.
 */
static size_t string_end(const char *line, size_t length, size_t at)
{
    for (; at < length; at++) {
        if (line[at] == BELL)
            return at + 1;
        if (is_c1(line + at, length - at))
            return line[at + 1] == (char)0x9c ? at + 2 : at;
        if (line[at] == ESCAPE)
            return at + 1 < length && line[at + 1] == '\\' ? at + 2 : at;
    }
    return at;
}

/* Behind the sequence of ESC and `kind`, with what is at `at`. */
static size_t sequence_end(const char *line, size_t length, size_t at,
                           char kind)
{
    if (kind == '[') {
        while (at < length && is_between(line[at], 0x20, 0x3f))
            at++;
        return at < length && is_between(line[at], 0x40, 0x7e) ? at + 1 : at;
    }
    if (kind != '\0' && strchr("]PX^_", kind) != NULL)
        return string_end(line, length, at);
    if (!is_between(kind, 0x20, 0x2f))
        return is_between(kind, 0x30, 0x7e) ? at : at - 1;
    while (at < length && is_between(line[at], 0x20, 0x2f))
        at++;
    return at < length && is_between(line[at], 0x30, 0x7e) ? at + 1 : at;
}

size_t escape_length(const char *text, size_t length)
{
    if (is_c1(text, length))
        return sequence_end(text, length, 2, (char)(text[1] - 0x40));
    if (length == 0 || text[0] != ESCAPE)
        return 0;
    return length > 1 ? sequence_end(text, length, 2, text[1]) : 1;
}

bool escape_is_in(const char *line, size_t length)
{
    const char *at = line, *end = line + length;

    if (memchr(line, ESCAPE, length) != NULL)
        return true;
    while ((at = memchr(at, 0xc2, (size_t)(end - at))) != NULL) {
        if (is_c1(at, (size_t)(end - at)))
            return true;
        at++;
    }
    return false;
}

void escape_strip(const char *line, size_t length, struct buf *out)
{
    size_t plain = 0, at = 0;

    while (at < length) {
        size_t escape = escape_length(line + at, length - at);

        if (escape > 0) {
            buf_add(out, line + plain, at - plain);
            plain = at + escape;
        }
        at += escape > 0 ? escape : 1;
    }
    buf_add(out, line + plain, length - plain);
}

/* ---- for a terminal ---- */

/* Also *is_cut: so far it is a colour, and the text ends. */
static size_t colour_length(const char *text, size_t length, bool *is_cut)
{
    size_t at = 1;

    *is_cut = false;
    if (length == 0 || text[0] != ESCAPE || (length > 1 && text[1] != '['))
        return 0;
    while (++at < length && at < COLOUR_MAX_BYTES)
        if (!is_between(text[at], '0', ';')) /* digits, colon, semicolon */
            return text[at] == 'm' ? at + 1 : 0;
    *is_cut = at >= length;
    return 0;
}

size_t escape_colour_length(const char *text, size_t length)
{
    bool is_cut;

    return colour_length(text, length, &is_cut);
}

/* Most of a log is such text, and may be a gigabyte. */
static size_t plain_length(const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && (is_between(text[at], ' ', '~') || text[at] == '\n' ||
                           text[at] == '\r' || text[at] == '\t'))
        at++;
    return at;
}

size_t escape_show(const char *text, size_t length, bool is_end,
                   struct buf *out)
{
    size_t at = 0;

    while (at < length) {
        size_t left = length - at;
        size_t bytes = plain_length(text + at, left);
        bool is_cut = false;

        if (bytes == 0)
            bytes = colour_length(text + at, left, &is_cut);
        if (bytes > 0) {
            buf_add(out, text + at, bytes);
        } else if (!is_end && (is_cut || text_is_cut(text + at, left))) {
            break;
        } else {
            bytes = text_next_rune(text + at, left, NULL);
            bytes += bytes == 0;
            text_escape(text + at, bytes, out);
        }
        at += bytes;
    }
    return at;
}
