/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_WHATIF_H
#define SMTUNE_ORCHESTRATOR_SEARCH_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/search/curve_sim.h"
#include "strategies/schedules/scheduler.h"

struct experiment;
struct store;

/*
 * What another schedule would have made of a run: its record's learning curves
 * run once more (curve_sim.h), as many trials at a time as the run had. The
 * curves are those of the objective that schedules go by; a trial's attempts
 * say how long a unit of the resource took it. Left out is a trial that took
 * over another one's result, as it used nothing; one that never started; and
 * one that began at another one's checkpoint, as its curve has no beginning.
 */
struct whatif;

/* The run as it was. */
struct whatif_run {
    size_t trials;      /* that are run once more */
    size_t curves;      /* of them, that said the metric at all */
    size_t parallel;    /* the most that ran at the same time */
    uint64_t first;     /* the least resource, above 0, of any point */
    uint64_t longest;   /* the most */
    uint64_t resource;  /* used in all */
    double seconds;     /* of all trials together */
    double elapsed;     /* seconds in which any of them ran */
    const char *metric; /* the experiment's */
    const char *unit;   /* of the resource, likewise */
    bool maximize;
    int64_t winner; /* its best trial; 0: none yet */
    double winner_value;
};

/* experiment is the run's, and outlives it. NULL: the record cannot be read. */
struct whatif *whatif_create(struct store *store, int64_t run,
                             const struct experiment *experiment,
                             struct err *err);
void whatif_destroy(struct whatif *whatif); /* NULL is none */

const struct whatif_run *whatif_run(const struct whatif *whatif);

/* The run's own schedule where it has one, else the defaults with the resource
 * that its curves have. */
void whatif_options(const struct whatif *whatif,
                    struct schedule_options *options);

/* The method's name as it lives on; of an unknown one the word itself. */
const char *whatif_method(const char *word);

/* The best value is as the metric says it. ERR_USAGE: options that do not go
 * together, or of which the curves do not tell. */
int whatif_try(const struct whatif *whatif,
               const struct schedule_options *options,
               struct curve_sim_result *result, struct err *err);

#endif
