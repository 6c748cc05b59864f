/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/fault/sim/world.h"

/* In place of base/clock.c: the simulated world's clocks. */

int64_t clock_wall_ms(void)
{
    world_step();
    return world_get()->now_ms + world_get()->wall_offset_ms;
}

/* From the boot on, as CLOCK_BOOTTIME is. */
int64_t clock_monotonic_ms(void)
{
    world_step();
    return world_get()->now_ms - world_get()->booted_ms;
}

/* Nothing takes time but what the world says. */
int64_t clock_thread_ms(void)
{
    return 0;
}

void clock_format_iso(int64_t wall_ms, char *text, size_t size)
{
    snprintf(text, size, "%" PRId64, wall_ms);
}

void clock_format_stamp(int64_t wall_ms, char *text, size_t size)
{
    snprintf(text, size, "%" PRId64, wall_ms);
}
