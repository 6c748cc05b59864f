/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_ASK_TELL_IMPL_H
#define SMTUNE_ORCHESTRATOR_SEARCH_ASK_TELL_IMPL_H

#include "base/json.h"
#include "orchestrator/job/states.h"
#include "orchestrator/search/ask_tell.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

/* A session from inside, for its own files alone. Values are as the other
 * program says them; what search and schedule are told of them goes through
 * feedback.h. */

struct ask_tell_trial {
    struct value *point;
    double *values; /* [objective_count]; NULL until it is over */
    double violation;
    enum job_state state;          /* when it is over */
    struct suggestion *suggestion; /* NULL where it says nothing */
    size_t pending;                /* others under way when asked */

    /* With a schedule. */
    uint64_t resource; /* up to which it may run */
    size_t parent;     /* whose clone it is; 0: nobody's */
    bool is_paused;
    double *reached;   /* [objective_count]: each as its objective asks, the
                          last or the best; NULL: nothing was observed */
    double last, best; /* of the objective that decides */
};

struct ask_tell {
    const struct experiment *experiment;
    struct strategy *strategy;
    struct scheduler *scheduler;   /* NULL: the file has no schedule */
    struct ask_tell_trial *trials; /* [count], trial 1 first */
    size_t count, capacity;
    size_t open_count; /* trials under way: neither over nor paused */
    size_t best;       /* by the first objective; a number, 0: none */
};

/* The next trial, from the search method. */
enum ask_result ask_tell_add_trial(struct ask_tell *ask_tell, struct err *err);
/* The next trial; what it points to changes hands. */
void ask_tell_append(struct ask_tell *ask_tell,
                     const struct ask_tell_trial *trial);
/* As ask gives it out. A new reference. */
json_t *ask_tell_trial_json(const struct ask_tell *ask_tell, size_t number);

/* The trial of the request's "id" that is under way; else NULL with err. */
struct ask_tell_trial *ask_tell_find_open(struct ask_tell *ask_tell,
                                          const json_t *request, size_t *number,
                                          struct err *err);
/* A trial is over, as its values, violation and state say; excesses may be
 * NULL. */
void ask_tell_end_trial(struct ask_tell *ask_tell, size_t number,
                        const double *excesses, bool was_paused);

double *ask_tell_new_nans(size_t count);

#endif
