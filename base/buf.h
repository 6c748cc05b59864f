/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_BUF_H
#define SMTUNE_BASE_BUF_H

#include <stddef.h>

#include "base/compiler.h"

/*
 * A growing string of bytes, always with a NUL behind it. Embedded: start
 * from BUF_INIT (or all zeroes), end with buf_clear. `data` is NULL until the
 * first byte is added; buf_text() is never NULL.
 */
struct buf {
    char *data;
    size_t length;
    size_t capacity;
};

#define BUF_INIT                                                               \
    {                                                                          \
        NULL, 0, 0                                                             \
    }

void buf_add(struct buf *buf, const void *bytes, size_t length);
void buf_add_string(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
/* Room for `extra` more bytes behind length; the caller then adds to length. */
char *buf_reserve(struct buf *buf, size_t extra);
const char *buf_text(const struct buf *buf);
void buf_truncate(struct buf *buf, size_t length);
/* Drops the first `count` bytes. */
void buf_consume(struct buf *buf, size_t count);
/* The string, which is then the caller's to free; the buffer is empty. */
char *buf_take(struct buf *buf);
void buf_clear(struct buf *buf);

#endif
