/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "base/conf/conf_impl.h"
#include "base/text.h"

/*
 * From a place in a scalar's text to one in the file: both are walked side by
 * side. White space of one matches any white space of the other, which covers
 * folding and the indentation of block scalars.
 */

struct cursor {
    const char *at;
    int line, column;
};

static void step(struct cursor *cursor)
{
    if (*cursor->at == '\n') {
        cursor->line++;
        cursor->column = 1;
    } else {
        cursor->column++;
    }
    cursor->at = text_skip_runes(cursor->at, 1);
}

static bool at_end(const struct cursor *cursor)
{
    return *cursor->at == '\0';
}

static bool at_space(const struct cursor *cursor)
{
    return isspace((unsigned char)*cursor->at);
}

static void skip_space(struct cursor *cursor)
{
    while (at_space(cursor))
        step(cursor);
}

/* To the scalar's first character, behind anchor, tag, quote or `|` line.
 * Returns the quote, or 0. */
static char enter_scalar(struct cursor *cursor)
{
    char first;

    while (*cursor->at == '&' || *cursor->at == '!') {
        while (!at_end(cursor) && !at_space(cursor))
            step(cursor);
        skip_space(cursor);
    }
    first = *cursor->at;
    if (first == '"' || first == '\'') {
        step(cursor);
        return first;
    }
    if (first == '|' || first == '>') {
        while (!at_end(cursor) && *cursor->at != '\n')
            step(cursor);
        skip_space(cursor);
    }
    return '\0';
}

/* Moves the cursor behind what stands for the character `c` of the text;
 * false where that is written in a way not followed here. */
static bool pass(struct cursor *cursor, const char *c, char quote)
{
    if (isspace((unsigned char)*c)) {
        skip_space(cursor);
        return true;
    }
    /* two quotes in a row, \" and \\, or an escaped end of line */
    if (quote == '"' && *cursor->at == '\\') {
        step(cursor);
        skip_space(cursor);
    } else if (quote == '\'' && *c == '\'') {
        step(cursor);
    }
    if (*cursor->at != *c)
        return false;
    step(cursor);
    return true;
}

const char *conf_find_place(const char *text, int line, int column)
{
    for (; line > 1 && *text != '\0'; text++)
        line -= *text == '\n';
    return text_skip_runes(text, column - 1);
}

/* How many characters to underline: those of a name, else one. */
static int word_length(const struct cursor *cursor)
{
    const char *p = cursor->at;

    while (isalnum((unsigned char)*p) || *p == '_')
        p++;
    return p > cursor->at ? (int)(p - cursor->at) : 1;
}

struct diag_place conf_place_at(const struct conf_doc *doc,
                                const struct conf_node *scalar, const char *at)
{
    struct cursor cursor = {doc->source, 1, 1};
    const char *text = scalar->text;
    char quote;

    if (scalar->place.line == 0)
        return scalar->place;
    while (!at_end(&cursor) && (cursor.line < scalar->place.line ||
                                cursor.column < scalar->place.column))
        step(&cursor);
    quote = enter_scalar(&cursor);
    while (isspace((unsigned char)*text) && text < at)
        text++;
    for (; text < at; text = text_skip_runes(text, 1)) {
        if (!pass(&cursor, text, quote))
            return scalar->place;
    }
    /* a space of the text may stand before an indented line */
    if (*at != '\0' && !isspace((unsigned char)*at))
        skip_space(&cursor);
    return (struct diag_place){cursor.line, cursor.column,
                               word_length(&cursor)};
}

struct diag_place conf_place_in(const struct conf_doc *doc,
                                const struct conf_node *scalar, int line,
                                int column)
{
    return conf_place_at(doc, scalar,
                         conf_find_place(scalar->text, line, column));
}
