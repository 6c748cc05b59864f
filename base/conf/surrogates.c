/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON writes a character beyond U+FFFF as two escapes, "\ud83d\ude00", and
 * Python's json.dumps() writes every one of them so. In YAML an escape is a
 * whole character, and libyaml refuses both halves.
 *
 * Whether such a pair is an escape or the text itself depends on the scalar
 * that it is in, which only libyaml finds. So libyaml reads a text in which
 * each pair is hidden: a mark three times, the eight digits, and the mark. It
 * has as many characters as the pair, so every place stays the same. A scalar
 * in double quotes then gets the character, and any other what was written.
 * Half of a pair is not hidden, and libyaml refuses it.
 */
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf_impl.h"
#include "base/text.h"

enum { PAIR_BYTES = 12, UNIT_DIGITS = 4, MARK_BYTES = 4, MARKS_BEFORE = 3 };

/* U+10FFFF, which Unicode keeps free for uses like this one. */
static const char mark[] = "\xf4\x8f\xbf\xbf";

enum { HIDDEN_BYTES = (MARKS_BEFORE + 1) * MARK_BYTES + 2 * UNIT_DIGITS };

static void hide(const char *pair, struct buf *out)
{
    for (int i = 0; i < MARKS_BEFORE; i++)
        buf_add(out, mark, MARK_BYTES);
    buf_add(out, pair + 2, UNIT_DIGITS);
    buf_add(out, pair + PAIR_BYTES - UNIT_DIGITS, UNIT_DIGITS);
    buf_add(out, mark, MARK_BYTES);
}

/* The first pair at or behind `at`, or NULL. Of a row of backslashes in double
 * quotes, each second one is escaped by the one before it. */
static const char *find_pair(const char *at, const char *end)
{
    uint32_t rune;

    while ((at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        if (text_escaped_rune(at, (size_t)(end - at), &rune) == PAIR_BYTES)
            return at;
        at += at + 1 < end && at[1] == '\\' ? 2 : 1;
    }
    return NULL;
}

bool conf_hide_pairs(const char **text, size_t *length, struct buf *hidden)
{
    const char *at = *text, *end = at + *length, *pair;

    if (find_pair(at, end) == NULL ||
        memmem(at, *length, mark, MARK_BYTES) != NULL)
        return false;
    while ((pair = find_pair(at, end)) != NULL) {
        buf_add(hidden, at, (size_t)(pair - at));
        hide(pair, hidden);
        at = pair + PAIR_BYTES;
    }
    buf_add(hidden, at, (size_t)(end - at));
    *text = buf_text(hidden);
    *length = hidden->length;
    return true;
}

/* The pair that is hidden there, as it was written; false: none is. */
static bool read_hidden(const char *at, size_t length, char pair[PAIR_BYTES])
{
    const char *digits = at + (size_t)MARKS_BEFORE * MARK_BYTES;

    if (length < HIDDEN_BYTES)
        return false;
    for (int i = 0; i < MARKS_BEFORE; i++)
        if (memcmp(at + (size_t)i * MARK_BYTES, mark, MARK_BYTES) != 0)
            return false;
    memcpy(pair, "\\u", 2);
    memcpy(pair + 2, digits, UNIT_DIGITS);
    memcpy(pair + PAIR_BYTES / 2, "\\u", 2);
    memcpy(pair + PAIR_BYTES / 2 + 2, digits + UNIT_DIGITS, UNIT_DIGITS);
    return true;
}

void conf_show_pairs(const char *text, size_t length, bool is_escaped,
                     struct buf *out)
{
    while (length > 0) {
        char pair[PAIR_BYTES], bytes[4];
        uint32_t rune;

        if (!read_hidden(text, length, pair) ||
            text_escaped_rune(pair, PAIR_BYTES, &rune) != PAIR_BYTES) {
            buf_add_char(out, *text++);
            length--;
            continue;
        }
        if (is_escaped)
            buf_add(out, bytes, text_put_rune(rune, bytes));
        else
            buf_add(out, pair, PAIR_BYTES);
        text += HIDDEN_BYTES;
        length -= HIDDEN_BYTES;
    }
}
