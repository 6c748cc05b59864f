/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_WORLD_H
#define SMTUNE_TESTS_FAULT_SIM_WORLD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/rng.h"

/*
 * One simulated world: a machine with a clock, a disk and processes, on which
 * one run is begun, crashes, and is gone on with. All that happens follows
 * from its seed. Times are milliseconds since the world began (which never
 * jump) unless their name says wall or monotonic.
 *
 * The real engine is linked with substitutes of the clock, libuv and the
 * executor that take no argument to find their world by; so there is one world
 * at a time, world_get().
 */

struct clients;
struct disk;
struct folders;
struct loop;
struct site;
struct world_event;

enum world_crash {
    CRASH_KILL = 1, /* of the engine's process alone */
    CRASH_POWER     /* of the whole machine */
};

/* Deliberate faults of what the engine stands on, each of which the checks
 * have to find: see sim.c. */
enum world_sabotage {
    SABOTAGE_NONE,
    SABOTAGE_EARLY_ACK,   /* a sync does nothing: commits are told too early */
    SABOTAGE_BLIND_SITE,  /* what runs is said to have never begun */
    SABOTAGE_LAZY_FOLDERS /* a folder's sync does nothing */
};

struct world {
    uint64_t seed;
    struct rng rng; /* of what happens; scenarios and attempts have their own */
    bool is_traced;
    enum world_sabotage sabotage;

    int64_t now_ms;
    int64_t booted_ms;
    int64_t wall_offset_ms;
    struct world_event *events; /* by time */

    int64_t steps;         /* of the engine that runs */
    int64_t crash_at_step; /* 0: at none */
    enum world_crash crash;
    bool is_armed;     /* there is an engine that can crash */
    bool is_signalled; /* and its user wants it to end */

    struct loop *loop;       /* of the engine that runs; NULL: none */
    struct clients *clients; /* of that engine */
    struct disk *disk;
    struct folders *folders;
    struct site *site;

    jmp_buf crashed; /* where a crash of the engine goes on */
    jmp_buf failed;  /* where a broken invariant does */
    char failure[1024];
};

struct world *world_create(uint64_t seed, enum world_sabotage sabotage,
                           bool is_traced);
void world_destroy(struct world *world);
/* The one that there is. */
struct world *world_get(void);

/* ---- chance ---- */

/* Uniform in low .. high, both included. */
int64_t rng_between(struct rng *rng, int64_t low, int64_t high);
/* Likewise, each order of magnitude as likely; low > 0. */
int64_t rng_magnitude(struct rng *rng, int64_t low, int64_t high);
bool rng_percent(struct rng *rng, int percent);

/* ---- time ---- */

/* Calls run(user) at that time; those of one time in an order by the seed. */
struct world_event *world_schedule(struct world *world, int64_t time_ms,
                                   void (*run)(void *user), void *user);
/* NULL is none. */
void world_cancel(struct world *world, struct world_event *event);
/* All of that user's. */
void world_cancel_all(struct world *world, const void *user);
/* When the next event is; INT64_MAX: none. */
int64_t world_next_ms(const struct world *world);
/* Goes on to that time, through all events until then. */
void world_advance(struct world *world, int64_t time_ms);

/* ---- ends ---- */

/* A point at which the engine may crash: before each call that it makes to the
 * outside. */
void world_step(void);
/* The engine's process ends here and now. */
NORETURN void world_crash(struct world *world);
/* An invariant is broken. */
NORETURN void world_fail(const char *format, ...) PRINTF_LIKE(1, 2);
/* Tells what happens, where that was asked for. */
void world_trace(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
