/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CACHE_FACTS_H
#define SMTUNE_ORCHESTRATOR_STEPS_CACHE_FACTS_H

#include "orchestrator/steps/steps.h"

/*
 * What a job's result hangs on: its words or script, or what its child run does
 * (child_facts.h); the folder where it runs (and where relative outputs lie),
 * the environment that its step sets, its place in the matrix and its round's
 * values, the variables and inputs that `cache` names, what it is to make; and
 * the files of earlier steps that it reads, which are inputs, too. Its own
 * folders do not count, as they are another job's each time, nor does what it
 * is given to run with (CPUs, time and so on), except for its number of ranks
 * and of hosts.
 */
struct cache_facts {
    json_t *facts;
    char **inputs; /* [input_count] */
    size_t input_count;
    char *work_directory; /* of the step; NULL: the run's */
    /* Hashes of inputs that are temporary outputs of earlier steps and may be
     * missing, by absolute path; NULL: none. */
    json_t *known;
    const char **temps; /* [temp_count] names of its own temporary outputs */
    size_t temp_count;
};

/* environment: as it is inherited. -1 where a template has no value. */
int cache_facts_init(struct cache_facts *facts, struct steps *steps,
                     const struct job *job, char *const *environment,
                     struct err *err);
void cache_facts_clear(struct cache_facts *facts);

#endif
