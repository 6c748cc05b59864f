/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/name.h"

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/metrics/number.h"
#include "base/text.h"

static bool is_ascii_name_char(char c)
{
    return metric_is_letter(c) || metric_is_digit(c) || c == '.' || c == '/' ||
           c == '-' || c == '@';
}

static bool is_beyond_ascii(char c)
{
    return (unsigned char)c >= 0x80;
}

/* Punctuation, arrows, lines, blocks and emoji part words; other code points
 * beyond ASCII are letters. */
static bool is_letter_beyond_ascii(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } marks[] = {{0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},
                 {0xbb, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},
                 {0x2000, 0x206f}, {0x2190, 0x2bff}, {0x3000, 0x3003},
                 {0x3008, 0x3020}, {0xe000, 0xf8ff}, {0xfe00, 0xfe6f},
                 {0xff00, 0xff0f}, {0xfff0, 0xffff}, {0x1f000, 0x10ffff}};

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (point >= marks[i].first && point <= marks[i].last)
            return false;
    return true;
}

/* The length of the character of a name at `at`, 0: it is none. */
static size_t char_length(const char *at, const char *end)
{
    uint32_t point;
    size_t length;

    if (at >= end)
        return 0;
    if (!is_beyond_ascii(*at))
        return is_ascii_name_char(*at);
    length = text_next_rune(at, (size_t)(end - at), &point);
    return length > 0 && is_letter_beyond_ascii(point) ? length : 0;
}

/* As char_length(), of the one before `at`. */
static size_t length_before(const char *line, const char *at)
{
    const char *start = at - 1;

    if (at == line)
        return 0;
    while (start > line && at - start < 4 &&
           ((unsigned char)*start & 0xc0) == 0x80)
        start--;
    return char_length(start, at) == (size_t)(at - start) ? (size_t)(at - start)
                                                          : 0;
}

bool metric_is_name(const char *text, size_t length)
{
    const char *end = text + length;

    if (length == 0 || length > METRIC_NAME_MAX ||
        (!metric_is_letter(*text) && !is_beyond_ascii(*text)))
        return false;
    while (text < end) {
        size_t step = char_length(text, end);

        if (step == 0)
            return false;
        text += step;
    }
    return true;
}

bool metric_is_quoted_name(const char *text, size_t length)
{
    if (length == 0 || length > METRIC_NAME_MAX || text[0] == ' ' ||
        text[length - 1] == ' ')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

const char *metric_name_start(const char *line, const char *at)
{
    const char *start = at;
    size_t length;

    while (at - start <= METRIC_NAME_MAX &&
           (length = length_before(line, start)) > 0)
        start -= length;
    return start;
}

bool metric_name_may_begin(const char *line, const char *at)
{
    return length_before(line, at) == 0;
}

bool metric_name_may_end(const char *at, const char *end)
{
    return char_length(at, end) == 0;
}

static char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 0x20);
    return c == ' ' || c == '.' || c == '/' || c == '-' ? '_' : c;
}

bool metric_names_match(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (fold(a[i]) != fold(b[i]))
            return false;
    return true;
}

/* ---- the word before a name ---- */

/* The word that ends one blank before the name; its length, 0: none. */
static size_t word_before(const char *line, const char *name, const char **word)
{
    const char *start, *end = name - 1;

    if (name == line || name - line < 2 || !metric_is_blank(*end))
        return 0;
    for (start = end; start > line && metric_is_letter(start[-1]); start--)
        ;
    *word = start;
    return (size_t)(end - start);
}

/* "valid_0's " */
static size_t possessive_lead(const char *line, const char *name)
{
    const char *end = name - 3, *start;

    if (name - line < 4 || memcmp(end, "'s ", 3) != 0)
        return 0;
    start = metric_name_start(line, end);
    return metric_is_name(start, (size_t)(end - start)) ? (size_t)(name - start)
                                                        : 0;
}

/* "Val. " */
static size_t short_lead(const char *line, const char *name)
{
    static const char *const words[] = {"val", "valid", "eval"};
    const char *dot = name - 2, *word;

    if (name - line < 5 || *dot != '.' || !metric_is_blank(name[-1]))
        return 0;
    for (word = dot; word > line && metric_is_letter(word[-1]); word--)
        ;
    return text_is_word_among(word, (size_t)(dot - word), words,
                              ARRAY_LEN(words)) &&
                   metric_name_may_begin(line, word)
               ? (size_t)(name - word)
               : 0;
}

size_t metric_name_lead(const char *line, const char *name)
{
    static const char *const sets[] = {
        "train", "training", "val",  "valid",      "validation",
        "test",  "testing",  "eval", "evaluation", "dev"};
    const char *word;
    size_t length = possessive_lead(line, name);

    if (length > 0)
        return length;
    length = short_lead(line, name);
    if (length > 0)
        return length;
    length = word_before(line, name, &word);
    if (length == 0 ||
        !text_is_word_among(word, length, sets, ARRAY_LEN(sets)) ||
        (word > line &&
         (word[-1] == '=' || !metric_name_may_begin(line, word))))
        return 0;
    return length + 1;
}

bool metric_is_of_best(const char *line, const char *name)
{
    static const char *const words[] = {
        "best", "previous", "prev",    "lowest", "highest", "min",   "minimum",
        "max",  "maximum",  "initial", "target", "from",    "until", "total"};
    const char *word;
    size_t length;

    name -= metric_name_lead(line, name);
    length = word_before(line, name, &word);
    return length > 0 &&
           text_is_word_among(word, length, words, ARRAY_LEN(words));
}
