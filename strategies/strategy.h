/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_STRATEGY_H
#define SMTUNE_STRATEGIES_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "strategies/space/space.h"

/*
 * Search methods as ask and tell, pure in (space, seed, history): no clock, no
 * file, no log. What a suggestion depends on is the options, the trial's
 * number, which trials were asked for before it, and the results told so far
 * in the order of telling; so the record can prove each one. A new method is
 * one file with one const struct strategy_method (strategy_impl.h) and one line
 * there.
 */

enum duplicate_policy {
    DUPLICATES_SKIP,     /* no point twice as long as there are others */
    DUPLICATES_REUSE,    /* a point that has a result takes it over */
    DUPLICATES_REPLICATE /* every point `replicates` times in a row */
};

struct strategy_options {
    const char *method; /* a name of strategy_method_names() */
    uint64_t seed;
    uint64_t grid_points;   /* values a continuous parameter gets in a grid */
    uint64_t budget_trials; /* how many trials are planned; 0: no limit */
    uint64_t parallel;      /* how many at once; 0: not known */
    size_t objective_count; /* 0 stands for 1 */
    size_t outcome_count;   /* constraints on outcomes */
    enum duplicate_policy duplicates;
    uint64_t replicates; /* for DUPLICATES_REPLICATE; else, and for 0: 1 */
    bool adapts_rates;   /* cmaes: of learning, to noise */
    /* Of the suggestions of a method that learns, how many are drawn at random
     * instead (BOHB has a third), so that nothing learnt too early binds. */
    double random_fraction;
};

enum ask_result {
    ASK_ERROR = -1,
    ASK_OK = 0,
    ASK_EXHAUSTED = 1 /* the method has nothing more to try */
};

enum trial_outcome {
    OUTCOME_COMPLETE,
    OUTCOME_FAILED,
    OUTCOME_STOPPED,  /* by a decision; values are what it had reached */
    OUTCOME_CANCELLED /* forgotten */
};

/* Why a method chose a point. Numbers that it does not have are NaN. */
struct reason {
    const char *method; /* the method that chose, static */
    const char *step;   /* of the method: "startup", "log EI", static */
    double acquisition; /* its value, higher is better */
    double mean;        /* predicted objective, lower is better, as told */
    double deviation;   /* its standard deviation */
    uint64_t incumbent; /* the best trial then; 0: none */
    char note[160];     /* what else there is to say; may be empty */
};

struct suggestion {
    uint64_t cursor;  /* the method's position, to be kept with the trial */
    uint64_t told;    /* how many results were known, likewise */
    uint64_t same_as; /* the trial whose result it takes over; 0: none */
    uint64_t wish;    /* the id of strategy_wish that it fulfils; 0: none */
    struct reason reason;
};

struct trial_result {
    enum trial_outcome outcome;
    const double *values;   /* [objective_count], lower is better; or NULL */
    const double *outcomes; /* [outcome_count], <= 0 is satisfied; or NULL */
};

/* What a trial had reached on its way, when a schedule had given it so much. */
struct partial_result {
    uint64_t resource;    /* 1 or more: a rung's, or of any point of its way */
    const double *values; /* [objective_count], lower is better */
    const double *outcomes; /* [outcome_count], <= 0 is satisfied; or NULL */
    bool goes_on;           /* else it pauses or stops here */
};

struct strategy;
struct history;

/* space is borrowed. Unknown methods are ERR_FILE with the nearest name. */
struct strategy *strategy_create(const struct strategy_options *options,
                                 struct space *space, struct err *err);
void strategy_destroy(struct strategy *strategy);

/* The method in use, which `auto` chose, and why in one sentence. */
const char *strategy_method(const struct strategy *strategy);
const char *strategy_reason(const struct strategy *strategy);
/* Whether suggestions depend on results; if not, many may be asked ahead. */
bool strategy_learns(const struct strategy *strategy);
/* What it knows, at the level of resource that it models; NULL for a method
 * that does not learn. */
const struct history *strategy_history(const struct strategy *strategy);

/*
 * A setting to be tried before what the method suggests, in the order given:
 * values[space_count]; a null one is drawn, from the seed and the place in that
 * order, so that the setting is none of the earlier ones, if possible. To be
 * called before any ask, also before strategy_restore. -1 as space_complete.
 */
int strategy_enqueue(struct strategy *strategy, const struct value *values,
                     struct err *err);
/* Whether one of them is this point. */
bool strategy_has_enqueued(const struct strategy *strategy,
                           const struct value *point);

/*
 * A setting to be tried by the next trial that is asked for, behind those of
 * strategy_enqueue and of earlier calls; at any time, with an id over 0. What
 * is null is drawn, from the seed and the id alone, so that nothing depends on
 * when it is tried. -1 as space_complete.
 */
int strategy_wish(struct strategy *strategy, uint64_t id,
                  const struct value *values, struct err *err);
/* How many wait for a trial. */
size_t strategy_wish_count(const struct strategy *strategy);
/* How many trials there are, of `trials` so far, once each setting of
 * strategy_enqueue and strategy_wish has had its own. */
uint64_t strategy_promised(const struct strategy *strategy, uint64_t trials);

/*
 * A trial of an earlier run, told before any ask; point[space_count]. With
 * `binds`, it counts as a trial of this run that has this result, and is not
 * tried again. Else it guides; its values are to be standardised a run (mean 0,
 * deviation 1), since those of different runs need not be comparable. Methods
 * that do not learn take note of the first kind alone.
 */
void strategy_add_earlier(struct strategy *strategy, const struct value *point,
                          const struct trial_result *result, bool binds);

/*
 * The point for trial number `trial` (1, 2, 3 ...; each asked once, in order),
 * into point[space_count]. It satisfies conditions and constraints, and repeats
 * no point of a finite space before all are used up (but see
 * enum duplicate_policy). Text values belong to the space. suggestion may be
 * NULL.
 */
enum ask_result strategy_ask(struct strategy *strategy, uint64_t trial,
                             struct value *point, struct suggestion *suggestion,
                             struct err *err);

/* In place of strategy_ask, where a schedule chose the point. The suggestion
 * has no reason. */
void strategy_accept(struct strategy *strategy, uint64_t trial,
                     const struct value *point, struct suggestion *suggestion);

/* In place of strategy_ask, when the record already holds that trial: with its
 * point, and its suggestion's cursor. */
void strategy_restore(struct strategy *strategy, uint64_t trial,
                      const struct value *point, uint64_t cursor);

/*
 * The result of a trial that was asked for. Where it has one already, because
 * it was run again, the new one takes its place, as the last one told.
 */
void strategy_tell(struct strategy *strategy, uint64_t trial,
                   const struct trial_result *result);

/*
 * A trial that was asked for has used so much of its schedule's resource. A
 * method that learns models what trials had reached at one resource, the
 * largest that enough of them came to, whatever became of them later: so a
 * trial that was stopped early is compared with others at the same point of
 * their way alone. strategies/fidelity.h says it exactly. The result of a trial
 * that has come to its end is told besides.
 */
void strategy_observe(struct strategy *strategy, uint64_t trial,
                      const struct partial_result *result);

/* NULL-ended. */
const char *const *strategy_method_names(void);

#endif
