/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/toml/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A key of UTF-8, which is the first line, and a TOML text: refused with a
 * place, and the text as it was, or set. What was set is found again: a second
 * value replaces the first, and nothing else changes.
 */

static void copy(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_add(to, buf_text(from), from->length);
}

static bool is_same(const struct buf *a, const struct buf *b)
{
    return a->length == b->length &&
           memcmp(buf_text(a), buf_text(b), a->length) == 0;
}

static void change(const struct buf *text, const char *key)
{
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};

    copy(&first, text);
    if (toml_set(&first, key, "1", &err) != 0) {
        assert(err.kind == ERR_FILE && err.line >= 1 && err.column >= 1);
        assert(is_same(&first, text));
    } else {
        copy(&second, &first);
        assert(toml_set(&second, key, "\"two\"", NULL) == 0);
        assert(second.length == first.length + 4);
        assert(toml_set(&second, key, "1", NULL) == 0);
        assert(is_same(&first, &second));
        assert(toml_remove(&second, key, NULL) == 0);
        assert(second.length < first.length);
    }
    buf_clear(&first);
    buf_clear(&second);
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text), length = 1;

    for (; left > 0 && length > 0; left -= length, text += length)
        length = text_next_rune(text, left, NULL);
    return length > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t length = end != NULL ? (size_t)(end - data) : 0;
    char *key = mem_copy_bytes(data, length);
    struct buf text = BUF_INIT;

    buf_add(&text, data + length, size - length);
    if (is_utf8(key))
        change(&text, key);
    free(key);
    buf_clear(&text);
    return 0;
}
