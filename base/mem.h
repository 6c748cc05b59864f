/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_MEM_H
#define SMTUNE_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"

/*
 * Small allocations. They never return NULL: when memory is gone the program
 * says so and aborts, because the record is in SQLite and a restart is the
 * recovery. What a user's input makes large (matrices, whole files) is bounded
 * by its caller and allocated with plain malloc, whose failure is an error.
 * Everything is released with free().
 */

void *mem_alloc(size_t bytes) MUST_USE;
void *mem_zero(size_t bytes) MUST_USE;
/* count * size bytes, zeroed; aborts on overflow. */
void *mem_array(size_t count, size_t size) MUST_USE;
/* A new array with the same elements. */
void *mem_copy_array(const void *array, size_t count, size_t size) MUST_USE;
/* Resizes to count * size bytes; the new part is not initialised. */
void *mem_resize(void *old, size_t count, size_t size) MUST_USE;
char *mem_copy_string(const char *text) MUST_USE; /* NULL gives NULL */
char *mem_copy_bytes(const void *bytes, size_t length) MUST_USE; /* adds NUL */
char *mem_printf(const char *format, ...) PRINTF_LIKE(1, 2) MUST_USE;
char *mem_vprintf(const char *format, va_list args) PRINTF_LIKE(1, 0) MUST_USE;

/*
 * Makes room for one more element in a growing array: when *capacity is equal
 * to count, doubles it. Returns the (maybe moved) array.
 */
void *mem_grow(void *array, size_t count, size_t *capacity,
               size_t size) MUST_USE;

#endif
