/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NORETURN static void out_of_memory(size_t bytes)
{
    fprintf(stderr, "smtune: out of memory (%zu bytes requested)\n", bytes);
    abort();
}

void *mem_alloc(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);

    if (memory == NULL)
        out_of_memory(bytes);
    return memory;
}

void *mem_zero(size_t bytes)
{
    return mem_array(1, bytes);
}

void *mem_array(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

    if (memory == NULL)
        out_of_memory(count);
    return memory;
}

void *mem_copy_array(const void *array, size_t count, size_t size)
{
    void *copy = mem_array(count, size);

    if (count > 0)
        memcpy(copy, array, count * size);
    return copy;
}

void *mem_resize(void *old, size_t count, size_t size)
{
    void *memory;
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(SIZE_MAX);
    memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        out_of_memory(bytes);
    return memory;
}

char *mem_copy_string(const char *text)
{
    return text != NULL ? mem_copy_bytes(text, strlen(text)) : NULL;
}

char *mem_copy_bytes(const void *bytes, size_t length)
{
    char *copy = mem_alloc(length + 1);

    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

char *mem_vprintf(const char *format, va_list args)
{
    char *text;

    if (vasprintf(&text, format, args) < 0)
        out_of_memory(0);
    return text;
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = mem_vprintf(format, args);
    va_end(args);
    return text;
}

void *mem_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity > 0 ? 2 * *capacity : 8;
    return mem_resize(array, *capacity, size);
}
