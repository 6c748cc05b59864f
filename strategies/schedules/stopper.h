/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_STOPPER_H
#define SMTUNE_STRATEGIES_SCHEDULES_STOPPER_H

#include "strategies/schedules/scheduler_impl.h"

/*
 * What the methods have in common that give each trial all there is at once,
 * watch it, and may stop it on its way: median, patient, threshold. They look
 * at a trial after each unit of resource up to STOPPER_LOOKS, and then 64 times
 * in each doubling. They stop none before min, nor at max, where it ends by
 * itself.
 */

enum { STOPPER_LOOKS = 1024 };

/* The first member of a method's own struct for a trial under way. */
struct watched {
    uint64_t trial;
    uint64_t seen; /* the resource of its last observation */
};

/* The first member of a method's state. */
struct stopper {
    struct schedule_options options; /* the texts in it are the caller's */
    struct watched **watched;        /* [count], by number */
    size_t count, capacity;
};

void stopper_init(struct stopper *stopper,
                  const struct schedule_options *options);
/* Also what is watched, which must own nothing else. */
void stopper_clear(struct stopper *stopper);

/* A trial under way: size bytes, zeroed but for its number. The stopper's. */
void *stopper_watch(struct stopper *stopper, uint64_t trial, size_t size);
/* It is watched no more, and the caller's to free; NULL: it was not. */
void *stopper_release(struct stopper *stopper, uint64_t trial);
/* Takes note of an observation. NULL: it says nothing new. */
void *stopper_see(struct stopper *stopper,
                  const struct observation *observation);
/* Whether it may be stopped there at all. */
bool stopper_may_stop(const struct stopper *stopper,
                      const struct observation *observation);

/* How many looks come before the one that a resource belongs to. */
size_t stopper_look(uint64_t resource);

/* Slots of the method. */
bool stopper_pauses(const void *state);
void stopper_next(const void *state, bool is_closed, struct assignment *next);
uint64_t stopper_awaits(const void *state, uint64_t trial);
int stopper_plan(const struct schedule_options *options, uint64_t trials,
                 struct schedule_plan *plan, struct err *err);

#endif
