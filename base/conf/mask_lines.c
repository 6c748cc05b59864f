/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text that is no YAML, masked line by line: below `env` and `notify`, and
 * behind a secret's name, all is masked up to the next line that is not
 * indented deeper.
 */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/mask_impl.h"
#include "base/mask.h"
#include "base/secret.h"
#include "base/text.h"

/* Where the values of all keys are secrets. */
static bool is_secret_part(const struct piece *name)
{
    static const char *const parts[] = {"env", "notify", "url"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (piece_is(name, parts[i]))
            return true;
    return secret_is_name(name->at, (size_t)(name->end - name->at));
}

/* The first key of the line that has secrets: behind its colon; NULL: none. */
static const char *find_secret_part(const struct piece *line)
{
    const char *at = line->at;

    while (at < line->end) {
        struct piece name = {at, at};

        while (name.end < line->end && (isalnum((unsigned char)*name.end) ||
                                        strchr("_-", *name.end) != NULL))
            name.end++;
        at = name.end;
        while (at < line->end && strchr("\"' \t", *at) != NULL)
            at++;
        if (name.end > name.at && at < line->end && *at == ':' &&
            is_secret_part(&name))
            return at + 1;
        if (at == name.at)
            at++;
    }
    return NULL;
}

static size_t indent_of(const struct piece *line)
{
    size_t indent = 0;

    while (line->at + indent < line->end &&
           strchr(" \t-", line->at[indent]) != NULL)
        indent++;
    return indent;
}

/* A line below a key with secrets: its own key stays. */
static void mask_below(struct piece line, struct buf *out)
{
    const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
    struct piece head = line;

    head.end = colon != NULL && (colon + 1 == line.end || colon[1] == ' ')
                   ? colon + 1
                   : line.at + indent_of(&line);
    piece_copy(&head, out);
    line.at = head.end;
    mask_all(line, out);
}

size_t mask_lines(const char *text, size_t length, struct buf *out)
{
    const char *end = text + length;
    size_t count = 0, below = SIZE_MAX;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct piece line = {text, stop != NULL ? stop : end};
        size_t indent = indent_of(&line), before = out->length;
        const char *secret = find_secret_part(&line);
        struct piece head = {line.at, secret};

        if (text_is_blank(line.at, (size_t)(line.end - line.at))) {
            piece_copy(&line, out);
        } else if (below != SIZE_MAX && indent > below) {
            mask_below(line, out);
        } else if (secret != NULL) {
            piece_copy(&head, out);
            mask_all((struct piece){secret, line.end}, out);
            below = indent;
        } else {
            mask_add(NULL, line.at, (size_t)(line.end - line.at), out);
            below = SIZE_MAX;
        }
        count += out->length - before != (size_t)(line.end - line.at) ||
                 memcmp(buf_text(out) + before, line.at,
                        (size_t)(line.end - line.at)) != 0;
        if (stop != NULL)
            buf_add_char(out, '\n');
        text = stop != NULL ? stop + 1 : end;
    }
    return count;
}
