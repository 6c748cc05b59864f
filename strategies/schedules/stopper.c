/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/stopper.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "strategies/schedules/plan_add.h"

enum { PER_DOUBLING = 64 }; /* looks from STOPPER_LOOKS on */

void stopper_init(struct stopper *stopper,
                  const struct schedule_options *options)
{
    *stopper = (struct stopper){.options = *options};
}

void stopper_clear(struct stopper *stopper)
{
    for (size_t i = 0; i < stopper->count; i++)
        free(stopper->watched[i]);
    free(stopper->watched);
}

/* Where it is, or would be. */
static size_t find_place(const struct stopper *stopper, uint64_t trial)
{
    size_t low = 0, high = stopper->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (stopper->watched[middle]->trial < trial)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct watched *find(const struct stopper *stopper, uint64_t trial)
{
    size_t place = find_place(stopper, trial);

    return place < stopper->count && stopper->watched[place]->trial == trial
               ? stopper->watched[place]
               : NULL;
}

void *stopper_watch(struct stopper *stopper, uint64_t trial, size_t size)
{
    size_t place = find_place(stopper, trial);
    struct watched *watched = mem_zero(size);

    watched->trial = trial;
    stopper->watched = mem_grow(stopper->watched, stopper->count,
                                &stopper->capacity, sizeof(struct watched *));
    memmove(stopper->watched + place + 1, stopper->watched + place,
            (stopper->count - place) * sizeof(struct watched *));
    stopper->watched[place] = watched;
    stopper->count++;
    return watched;
}

void *stopper_release(struct stopper *stopper, uint64_t trial)
{
    size_t place = find_place(stopper, trial);
    struct watched *watched = find(stopper, trial);

    if (watched == NULL)
        return NULL;
    stopper->count--;
    memmove(stopper->watched + place, stopper->watched + place + 1,
            (stopper->count - place) * sizeof(struct watched *));
    return watched;
}

void *stopper_see(struct stopper *stopper,
                  const struct observation *observation)
{
    struct watched *watched = find(stopper, observation->trial);

    if (watched == NULL || observation->resource <= watched->seen)
        return NULL;
    watched->seen = observation->resource;
    return watched;
}

bool stopper_may_stop(const struct stopper *stopper,
                      const struct observation *observation)
{
    return observation->resource >= stopper->options.min &&
           observation->resource < stopper->options.max;
}

/* Looks are 2^shift apart there. */
static int shift_at(uint64_t resource)
{
    int shift = 0;

    if (resource < STOPPER_LOOKS)
        return 0;
    while (resource >> shift >= 2 * (uint64_t)PER_DOUBLING)
        shift++;
    return shift;
}

size_t stopper_look(uint64_t resource)
{
    int shift = shift_at(resource), first = shift_at(STOPPER_LOOKS);

    if (shift == 0)
        return (size_t)resource;
    return STOPPER_LOOKS + (size_t)(shift - first) * PER_DOUBLING +
           (size_t)(resource >> shift) - PER_DOUBLING;
}

bool stopper_pauses(UNUSED const void *state)
{
    return false;
}

void stopper_next(const void *state, bool is_closed, struct assignment *next)
{
    const struct stopper *stopper = state;

    if (is_closed)
        return;
    next->kind = NEXT_NEW;
    next->resource = stopper->options.max;
}

uint64_t stopper_awaits(const void *state, uint64_t trial)
{
    const struct stopper *stopper = state;
    const struct watched *watched = find(stopper, trial);
    uint64_t next;
    int shift;

    if (watched == NULL || watched->seen >= stopper->options.max)
        return UINT64_MAX;
    shift = shift_at(watched->seen);
    next = ((watched->seen >> shift) + 1) << shift;
    return next < stopper->options.max ? next : stopper->options.max;
}

int stopper_plan(const struct schedule_options *options, uint64_t trials,
                 struct schedule_plan *plan, struct err *err)
{
    struct schedule_rung rung = {.trials = trials > 0 ? trials : 1,
                                 .resource = options->max};

    return schedule_plan_add(plan, &rung, err);
}
