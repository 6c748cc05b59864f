/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

enum { ESCAPE = 0x1b, BELL = 0x07 };

static bool is_between(char c, int first, int last)
{
    return (unsigned char)c >= first && (unsigned char)c <= last;
}

/* Behind the text of a title or a link, which ends with BEL or ESC \. */
static size_t string_end(const char *line, size_t length, size_t at)
{
    for (; at < length; at++) {
        if (line[at] == BELL)
            return at + 1;
        if (line[at] == ESCAPE)
            return at + 1 < length && line[at + 1] == '\\' ? at + 2 : at;
    }
    return at;
}

/* Behind the sequence whose ESC is before `at`. */
static size_t sequence_end(const char *line, size_t length, size_t at)
{
    if (at == length)
        return at;
    if (line[at] == '[') {
        for (at++; at < length && is_between(line[at], 0x20, 0x3f); at++)
            ;
        return at < length && is_between(line[at], 0x40, 0x7e) ? at + 1 : at;
    }
    if (strchr("]PX^_", line[at]) != NULL && line[at] != '\0')
        return string_end(line, length, at + 1);
    while (at < length && is_between(line[at], 0x20, 0x2f))
        at++;
    return at < length && is_between(line[at], 0x30, 0x7e) ? at + 1 : at;
}

size_t escape_length(const char *text, size_t length)
{
    return sequence_end(text, length, 1);
}

void escape_strip(const char *line, size_t length, struct buf *out)
{
    size_t at = 0;

    while (at < length) {
        const char *escape = memchr(line + at, ESCAPE, length - at);
        size_t plain = escape != NULL ? (size_t)(escape - line) : length;

        buf_add(out, line + at, plain - at);
        at = escape != NULL ? sequence_end(line, length, plain + 1) : length;
    }
}
