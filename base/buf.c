/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *buf_reserve(struct buf *buf, size_t extra)
{
    size_t needed = buf->length + extra + 1;

    if (needed > buf->capacity) {
        size_t capacity = buf->capacity > 0 ? buf->capacity : 64;

        while (capacity < needed)
            capacity *= 2;
        buf->data = mem_resize(buf->data, capacity, 1);
        buf->capacity = capacity;
        buf->data[buf->length] = '\0';
    }
    return buf->data + buf->length;
}

void buf_add(struct buf *buf, const void *bytes, size_t length)
{
    if (length == 0)
        return;
    memcpy(buf_reserve(buf, length), bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void buf_add_string(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length <= 0)
        return;
    buf_reserve(buf, (size_t)length);
    va_start(args, format);
    vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
    va_end(args);
    buf->length += (size_t)length;
}

const char *buf_text(const struct buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}

void buf_truncate(struct buf *buf, size_t length)
{
    if (length >= buf->length)
        return;
    buf->length = length;
    buf->data[length] = '\0';
}

void buf_consume(struct buf *buf, size_t count)
{
    if (count >= buf->length) {
        buf_truncate(buf, 0);
        return;
    }
    memmove(buf->data, buf->data + count, buf->length - count + 1);
    buf->length -= count;
}

char *buf_take(struct buf *buf)
{
    char *text = buf->data != NULL ? buf->data : mem_copy_string("");

    *buf = (struct buf)BUF_INIT;
    return text;
}

void buf_clear(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf)BUF_INIT;
}
