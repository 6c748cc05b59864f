/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SEARCH_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SEARCH_H

#include "orchestrator/engine/core/source.h"

/* A search: what its strategy suggests, until the budget is used up. */
extern const struct source source_search;

/* Its slots (core/source.h), for source_schedule. */
int search_open(struct engine *engine, struct err *err);
struct job *search_take_up(struct taking_up *taking_up,
                           const struct trial_row *row, enum job_state state);
void search_taken_up(struct engine *engine);
struct launch *search_launch(struct engine *engine, struct job *job,
                             struct err *err);
int search_judge(struct engine *engine, struct job *job, struct err *err);
void search_ended(struct engine *engine, struct job *job,
                  const struct feedback_item *item);
int search_find_reopened(struct engine *engine,
                         const struct reopen_request *wanted,
                         struct reopen_steps *steps, struct err *err);
void search_reopened(struct engine *engine, const struct reopen_steps *steps);
void search_describe(struct engine *engine, struct engine_status *status);
void search_committed(struct engine *engine);
void search_recall(struct engine *engine);

/* Of a run that came to its end by itself: the verdict and its reason, unless
 * the budget or the strategy has one already; and whether it has failed. */
void search_explain(struct engine *engine, enum budget_verdict verdict,
                    const char *reason);
void search_judge_run(struct engine_result *result, const struct tally *tally);

#endif
