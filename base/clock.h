/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CLOCK_H
#define SMTUNE_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* The wall clock, in milliseconds since 1970 UTC: for records only. */
int64_t clock_wall_ms(void);

/* A clock that never jumps (CLOCK_BOOTTIME): for every timeout. */
int64_t clock_monotonic_ms(void);

/* The processor time of the calling thread. */
int64_t clock_thread_ms(void);

/* "2026-11-21T10:00:00.123Z"; size >= 32. */
void clock_format_iso(int64_t wall_ms, char *text, size_t size);

/* For names of files, to the second: "20261121T100000Z"; size >= 32. */
void clock_format_stamp(int64_t wall_ms, char *text, size_t size);

#endif
