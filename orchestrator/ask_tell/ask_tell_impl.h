/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_IMPL_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_ASK_TELL_IMPL_H

#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell.h"
#include "orchestrator/job/states.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

/* A session from inside, for its own files alone. Values are as the other
 * program says them; what search and schedule are told of them goes through
 * feedback.h. */

struct ask_tell_record;

struct ask_tell_trial {
    struct value *point;
    double *values;   /* [objective_count]; NULL until it is over */
    double *outcomes; /* [outcome_count], of its constraints; NULL: none said */
    double violation;
    bool has_values;               /* all of them were said, or reached */
    enum job_state state;          /* ready, running, paused, or a final one */
    struct suggestion *suggestion; /* NULL where it says nothing */
    char *reason;       /* JSON, of one from the record; NULL where it says
                           nothing */
    uint64_t seen;      /* likewise: places taken when it was suggested */
    size_t pending;     /* others under way when asked */
    uint64_t wish;      /* the enqueued setting that it tries; 0: none */
    int64_t client;     /* that runs it; 0: nobody */
    const char *remark; /* on its end, for people; static, or NULL */
    bool is_cancelled;  /* by its user, when no session was there */

    /* Of a run: ids in the record. */
    int64_t job, attempt; /* attempt 0: none is under way */
    int64_t attempt_count, started_ms;

    /* With a schedule. */
    uint64_t resource;  /* up to which it may run */
    uint64_t paused_at; /* which it had used when it paused last */
    size_t parent;      /* whose clone it is; 0: nobody's */
    bool is_given_up;   /* the schedule stopped it, and nobody reported that */
    double *reached;    /* [objective_count]: each as its objective asks, the
                           last or the best; NULL: nothing was observed */
    double last, best;  /* of the objective that decides */
};

struct ask_tell {
    const struct experiment *experiment;
    struct strategy *strategy;
    struct scheduler *scheduler;    /* NULL: the file has no schedule */
    struct ask_tell_record *record; /* NULL: nothing is recorded */
    struct ask_tell_trial *trials;  /* [count], trial 1 first */
    size_t count, capacity;
    size_t open_count; /* trials that are neither over nor paused */
    size_t best;       /* by the first objective; a number, 0: none */
    size_t *waiting;   /* [waiting_count] open trials that nobody runs */
    size_t waiting_count, waiting_capacity;
    int64_t told;       /* places taken by results and the like (feedback.h) */
    int64_t client;     /* whose request it is */
    uint64_t wish_id;   /* of the last enqueued setting */
    uint64_t told_wish; /* that whose result is being told; 0: none */
    int reused_in_row;  /* trials whose setting had a result already */
    bool is_exhausted;  /* the search suggests nothing more */
};

/* The next trial, from the search method, as its schedule assigns it (NULL:
 * there is none). With `duplicates: reuse` a run's trial may be over at once.
 */
enum ask_result ask_tell_add_trial(struct ask_tell *ask_tell,
                                   const struct assignment *assignment,
                                   struct err *err);
/* The next trial; what it points to changes hands. */
void ask_tell_append(struct ask_tell *ask_tell,
                     const struct ask_tell_trial *trial,
                     const struct suggestion *suggestion,
                     const struct assignment *assignment);
/* The client that asks runs it now. */
void ask_tell_lease(struct ask_tell *ask_tell, size_t number);
/* Nobody runs it any more: it waits; or it is over, where its schedule had
 * stopped it. */
void ask_tell_give_back(struct ask_tell *ask_tell, size_t number);
/* The one that has waited longest; 0: none waits. */
size_t ask_tell_first_waiting(struct ask_tell *ask_tell);
/* Whether there may be another new trial. */
bool ask_tell_has_room(struct ask_tell *ask_tell);
/* As ask gives it out. A new reference. */
json_t *ask_tell_trial_json(const struct ask_tell *ask_tell, size_t number);

/* The trial of the request's "id" that is under way, which the client now runs
 * if nobody did; else NULL with err. */
struct ask_tell_trial *ask_tell_find_open(struct ask_tell *ask_tell,
                                          const json_t *request, size_t *number,
                                          struct err *err);
/* The trial of the request's "id"; else NULL with err. */
struct ask_tell_trial *ask_tell_find(struct ask_tell *ask_tell,
                                     const json_t *request, size_t *number,
                                     struct err *err);
/* A trial is over, as its values, outcomes and the state say, into which it
 * goes. */
void ask_tell_end_trial(struct ask_tell *ask_tell, size_t number,
                        enum job_state state);
/* A trial that is not over ends with what it had reached; reason: why, for
 * people, or NULL. */
void ask_tell_give_up(struct ask_tell *ask_tell, size_t number,
                      const char *reason);
/* It may be the best now. */
void ask_tell_note_best(struct ask_tell *ask_tell, size_t number);

/* Whether it counts for the best. */
bool ask_tell_is_candidate(const struct ask_tell_trial *trial);
/* The lower the better. */
double ask_tell_cost(const struct ask_tell *ask_tell, size_t number,
                     size_t objective);
double *ask_tell_new_nans(size_t count);

/* ask_tell_outcomes.c: by how much bounds are exceeded, as values of their
 * metrics. The caller's; NULL: there are no constraints. */
double *ask_tell_outcomes(const struct ask_tell *ask_tell,
                          const double *excesses);

/* ask_tell_best.c: answers. */
json_t *ask_tell_best(struct ask_tell *ask_tell, const json_t *request,
                      struct err *err);
json_t *ask_tell_why(struct ask_tell *ask_tell, const json_t *request,
                     struct err *err);

/* ask_tell_told.c: tell. */
json_t *ask_tell_tell(struct ask_tell *ask_tell, const json_t *request,
                      struct err *err);

#endif
