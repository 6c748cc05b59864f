/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CACHE_ASK_H
#define SMTUNE_ORCHESTRATOR_STEPS_CACHE_ASK_H

#include "orchestrator/steps/cache.h"
#include "orchestrator/steps/cache_facts.h"
#include "orchestrator/steps/steps.h"

/* What the cache is asked about a job, and why there is no result for it: the
 * same for an engine, and for a plan, which starts nothing. */

/* Both ask about the same: subject borrows from facts, which the caller clears.
 * -1 where that cannot be said, and nothing is to be cleared. */
int cache_ask_about(struct steps *steps, const struct job *job,
                    char *const *environment, struct cache_facts *facts,
                    struct cache_subject *subject, struct err *err);
/* Of a job that was touched, whose temporary outputs may be missing: such a one
 * counts as it was in the last result of its copy, which is added to the facts.
 * What is missing is noted in the job's outputs. */
void cache_ask_about_last(struct steps *steps, struct job *job,
                          struct cache_facts *facts);
/* The oldest result that will do, for cache_find(): none for a job that its
 * user has put back though it had succeeded. */
int64_t cache_ask_since(const struct cache_rule *rule, const struct job *job);

/*
 * Why a job runs that had this answer, without a result: "cache miss: changed
 * since job 1 of run 'one': input 'in'", or "it cannot be cached: ..."; for the
 * caller to free. store NULL: it has no runs.
 */
char *cache_ask_why(struct store *store, const struct workflow *workflow,
                    const struct job *job, const struct cache_answer *answer);
/* The same of one for which there is a result whose temporary outputs are
 * missing, because of a step that may need them; NULL: it is not known which.
 */
char *cache_ask_why_missing(const char *source, const char *needed_by);

/* "its temporary output is missing, and no step needs it" */
#define CACHE_NOT_NEEDED "its temporary output is missing, and no step needs it"

#endif
