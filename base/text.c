/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words and UTF-8. All text from outside passes through here before it reaches
 * a terminal or a message: invalid bytes and control characters become \xHH,
 * also those that turn the direction of text, with which a name shows as
 * another.
 *
 * The width of characters comes from a table of large blocks. wcwidth() would
 * depend on the locale, and the same run would print differently on two
 * machines.
 */
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/rune_range.h"

enum { WORD_MAX = 64, NAME_MAX_BYTES = 128, EDITS_MAX = 2 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment, by three rows of the table of distances. */
static size_t edit_distance(const char *a, size_t a_length, const char *b,
                            size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *free_row = before;

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = same_letter(a[i - 1], b[j - 1]);

            row[j] = smaller(last[j] + 1, row[j - 1] + 1);
            row[j] = smaller(row[j], last[j - 1] + !same);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = free_row;
    }
    return last[b_length];
}

const char *text_nearest(const char *word, const char *const *candidates,
                         size_t count)
{
    size_t length = strlen(word);
    size_t best = EDITS_MAX + 1;
    const char *nearest = NULL;

    if (length > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(candidates[i]);
        size_t edits;

        if (candidate_length > WORD_MAX)
            continue;
        edits = edit_distance(word, length, candidates[i], candidate_length);
        if (edits < best && 2 * edits < length) {
            best = edits;
            nearest = candidates[i];
        }
    }
    return nearest;
}

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    if (first >= 0xf0 && first < 0xf5)
        return 4;
    return 0;
}

/* What follows the first byte of a character. */
static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

int text_unknown(const char *what, const char *word, const char *const *words,
                 size_t count, enum err_kind kind, struct err *err)
{
    const char *nearest = text_nearest(word, words, count);
    struct buf list = BUF_INIT;

    if (nearest != NULL)
        buf_printf(&list, "did you mean '%s'?", nearest);
    else
        for (size_t i = 0; i < count; i++)
            buf_printf(&list, "%s%s", i > 0 ? ", " : "one of: ", words[i]);
    err_set(err, kind, "unknown %s '%.64s' (%s)", what, word, buf_text(&list));
    buf_clear(&list);
    return -1;
}

size_t text_next_rune(const char *text, size_t length, uint32_t *rune)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t bytes = sequence_length((unsigned char)text[0]);
    uint32_t value;

    if (bytes == 0 || bytes > length)
        return 0;
    value = (unsigned char)text[0] & first_bits[bytes];
    for (size_t i = 1; i < bytes; i++) {
        if (!is_continuation(text[i]))
            return 0;
        value = value << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (value < smallest[bytes] || value > 0x10ffff ||
        (value >= 0xd800 && value < 0xe000))
        return 0;
    if (rune != NULL)
        *rune = value;
    return bytes;
}

bool text_is_cut(const char *text, size_t length)
{
    if (length >= sequence_length((unsigned char)text[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!is_continuation(text[i]))
            return false;
    return true;
}

size_t text_put_rune(uint32_t rune, char out[4])
{
    static const unsigned char first_bits[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;

    for (size_t i = length; i-- > 1; rune >>= 6)
        out[i] = (char)(0x80 | (rune & 0x3f));
    out[0] = (char)(first_bits[length] | rune);
    return length;
}

/* Of "\u" and four hexadecimal digits; false: it is something else. */
static bool read_unit(const char *text, size_t length, uint32_t *unit)
{
    if (length < 6 || text[0] != '\\' || text[1] != 'u')
        return false;
    *unit = 0;
    for (size_t i = 2; i < 6; i++) {
        unsigned char c = (unsigned char)text[i];

        if (!isxdigit(c))
            return false;
        *unit = *unit << 4 |
                (uint32_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

size_t text_escaped_rune(const char *text, size_t length, uint32_t *rune)
{
    uint32_t high, low;

    if (!read_unit(text, length, &high))
        return 0;
    *rune = high;
    if (high < 0xd800 || high > 0xdfff)
        return 6;
    if (high > 0xdbff || !read_unit(text + 6, length - 6, &low) ||
        low < 0xdc00 || low > 0xdfff)
        return 0;
    *rune = 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
    return 12;
}

const char *text_skip_runes(const char *text, int count)
{
    for (; count > 0 && *text != '\0'; count--) {
        do
            text++;
        while (is_continuation(*text));
    }
    return text;
}

size_t text_cut(const char *text, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max > 0 && is_continuation(text[max]))
        max--;
    return max;
}

bool text_is_control(uint32_t rune)
{
    static const struct rune_range directions[] = {
        {0x061c, 0x061c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};

    if (rune < 0x20 || (rune >= 0x7f && rune < 0xa0))
        return true;
    return rune >= directions[0].first &&
           rune_range_has(directions, ARRAY_LEN(directions), rune);
}

/* The large blocks; wcwidth() would depend on the locale. */
static size_t rune_columns(uint32_t rune)
{
    static const struct rune_range none[] = {
        {0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
        {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
    };
    static const struct rune_range wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
        {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };

    if (rune < 0x300)
        return 1;
    if (rune_range_has(none, ARRAY_LEN(none), rune))
        return 0;
    return rune_range_has(wide, ARRAY_LEN(wide), rune) ? 2 : 1;
}

size_t text_columns(const char *text)
{
    size_t length = strlen(text);
    size_t columns = 0;

    while (length > 0) {
        uint32_t rune = 0;
        size_t bytes = text_next_rune(text, length, &rune);

        columns += bytes > 0 ? rune_columns(rune) : 1;
        bytes = bytes > 0 ? bytes : 1;
        text += bytes;
        length -= bytes;
    }
    return columns;
}

void text_escape(const char *text, size_t length, struct buf *out)
{
    while (length > 0) {
        uint32_t rune = 0;
        size_t bytes = text_next_rune(text, length, &rune);

        if (bytes > 0 && !text_is_control(rune)) {
            buf_add(out, text, bytes);
        } else {
            bytes = bytes > 0 ? bytes : 1;
            for (size_t i = 0; i < bytes; i++)
                buf_printf(out, "\\x%02x", (unsigned char)text[i]);
        }
        text += bytes;
        length -= bytes;
    }
}

bool text_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool text_is_name(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strlen(text);

    if (length == 0 || length > NAME_MAX_BYTES || strchr(first, *text) == NULL)
        return false;
    for (size_t i = 1; i < length; i++)
        if (strchr(first, text[i]) == NULL && text[i] != '.' && text[i] != '-')
            return false;
    return true;
}

size_t text_variable_length(const char *text)
{
    size_t length = 0;

    if (isdigit((unsigned char)*text))
        return 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

bool text_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    while (words != NULL && *words != '\0') {
        size_t end = strcspn(words, " ");

        if (end == length && strncmp(words, word, length) == 0)
            return true;
        words += end + strspn(words + end, " ");
    }
    return false;
}

bool text_is_among(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

bool text_is_word_among(const char *word, size_t length,
                        const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length &&
            strncasecmp(list[i], word, length) == 0)
            return true;
    return false;
}

bool text_list_has(const char *const *list, const char *text)
{
    for (; list != NULL && *list != NULL; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

bool text_begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool text_is_blank(const char *text, size_t length)
{
    while (length > 0 && memchr(" \t\r", text[length - 1], 3) != NULL)
        length--;
    return length == 0;
}

void text_skip_mark(const char **text, size_t *length)
{
    bool is_there = *length >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0;

    *text += is_there ? 3 : 0;
    *length -= is_there ? 3 : 0;
}

bool text_ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), its = strlen(ending);

    return length >= its && strcmp(text + length - its, ending) == 0;
}

uint32_t text_hash(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}
