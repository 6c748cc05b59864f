/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/gpt2_words.h"

#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "training/data/rune_class.h"

/* The class of the text's first character, and its length in bytes. */
static enum rune_class class_at(const uint8_t *text, size_t length,
                                size_t *size)
{
    uint32_t rune = *text;

    *size = 1;
    if (rune >= 0x80) {
        *size = text_next_rune((const char *)text, length, &rune);
        if (*size == 0) {
            *size = 1;
            return RUNE_OTHER;
        }
    }
    return rune_class(rune);
}

/* How many bytes are of the class; *last: where the last character begins. */
static size_t run_of(enum rune_class kind, const uint8_t *text, size_t length,
                     size_t *last)
{
    size_t at = 0, size;

    *last = 0;
    while (at < length && class_at(text + at, length - at, &size) == kind) {
        *last = at;
        at += size;
    }
    return at;
}

static size_t contraction(const uint8_t *text, size_t length)
{
    static const char *const ends[] = {"s", "t", "re", "ve", "m", "ll", "d"};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t size = strlen(ends[i]);

        if (size < length && memcmp(text + 1, ends[i], size) == 0)
            return 1 + size;
    }
    return 0;
}

size_t gpt2_word(const uint8_t *text, size_t length)
{
    size_t start = *text == ' ' && length > 1 ? 1 : 0, size, last, end;
    enum rune_class kind = class_at(text + start, length - start, &size);

    if (*text == '\'' && (end = contraction(text, length)) > 0)
        return end;
    if (kind != RUNE_SPACE)
        return start + run_of(kind, text + start, length - start, &last);
    end = run_of(RUNE_SPACE, text, length, &last);
    return end == length || last == 0 ? end : last;
}
