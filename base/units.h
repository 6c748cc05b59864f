/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_UNITS_H
#define SMTUNE_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * "90", "90s", "500ms", "10m", "2h", "28d", "1h30m" to milliseconds; a bare
 * number is seconds. -1 when it is none of these, negative or too large.
 */
int units_parse_duration(const char *text, int64_t *ms);

/* "1536", "512K", "1G", "1.5GiB", "10MB" to bytes (powers of 1024). -1: bad. */
int units_parse_bytes(const char *text, int64_t *bytes);

/* "640 ms", "12.3 s", "4m 05s", "2h 03m", "3d 04h"; size >= 32. */
void units_format_duration(int64_t ms, char *text, size_t size);

/* "512 B", "1.5 GiB"; size >= 32. */
void units_format_bytes(int64_t bytes, char *text, size_t size);

/* The same, appended. */
void units_add_duration(int64_t ms, struct buf *out);
void units_add_bytes(int64_t bytes, struct buf *out);

/* How many bytes of a unit in the plural ("epochs") stand behind an amount: of
 * 1 without the ending ("epoch"). */
int units_length(const char *plural, int64_t amount);

/* What makes a noun agree with a number: "" behind 1, else "s". */
const char *units_plural(int64_t count);

#endif
