/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_LOCAL_ADOPTED_IMPL_H
#define SMTUNE_EXECUTORS_LOCAL_ADOPTED_IMPL_H

#include "executors/attempt/attempt_file.h"
#include "executors/local/adopted.h"
#include "executors/machine/process_table.h"

/* The inside of the adopted attempts, and the part of it that ends their
 * processes. */

struct adopted {
    struct adopted *next;
    int64_t attempt;
    char *directory; /* NULL: it is lost */
    struct claim claim;
    int64_t grace_ms;
    int64_t time_ms; /* 0: no limit */
    int warn_signal; /* still to be sent; 0: none */
    int64_t warn_before_ms;
    enum attempt_cause told; /* why it was told to end; CAUSE_OK: it was not */
    int64_t told_ms;         /* wall clock */
    int64_t kill_ms;         /* clock_monotonic_ms(); 0: none */
    bool was_alive;          /* at the last look */
};

/* What a look at all processes has found; all zeroes at first. */
struct adopted_census {
    struct process_table table; /* owners are adopted attempts */
    bool is_fresh;              /* made since this was last set to false */
};

/* SIGTERM to the session of the command, if that is there. */
void adopted_terminate(const struct adopted *adopted);

/* Sends its warning to its processes, as the census finds them. */
void adopted_warn(struct adopted_census *census, struct adopted *first,
                  const struct adopted *adopted);

/* Kills all that is found of an adopted attempt, one of the list `first`, with
 * a new census unless it is fresh; returns whether there was anything, or it
 * could not be seen. */
bool adopted_kill(struct adopted_census *census, struct adopted *first,
                  struct adopted *adopted);

/* Removes its control group; false while anything lives there. */
bool adopted_remove_group(const struct adopted *adopted);

void adopted_census_clear(struct adopted_census *census);

#endif
