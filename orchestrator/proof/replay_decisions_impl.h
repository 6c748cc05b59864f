/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_REPLAY_DECISIONS_IMPL_H
#define SMTUNE_ORCHESTRATOR_PROOF_REPLAY_DECISIONS_IMPL_H

#include "base/compiler.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/job/job.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/proof/replay_impl.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "strategies/schedules/scheduler.h"

/* What the files of the proof of decisions share: replay_decisions.c follows
 * the events, replay_decisions_end.c knows what may become of an attempt's end,
 * and replay_decisions_convergence.c when the search had converged. */

struct judged {
    int64_t id, number;
    int64_t step; /* of a workflow; -1: it is a trial */
    const struct job_spec *task;
    const struct link_rule *link_rule; /* NULL: it is no chain */
    struct links links;
    enum link_verdict link_verdict; /* on its last end */
    struct free_starts free_starts; /* that spent no retry */
    enum retry_free free_start;     /* the one after its last end */
    struct resources resources;     /* of its next attempt, or this one */
    int64_t *retries_used;          /* [retry_count + 1]; NULL: none yet */
    struct attempt_exit end;
    int rule;     /* as recorded; -1: none */
    bool has_end; /* of which nothing was decided yet */
    bool is_scheduled;
    bool is_paused;
    /* The last one of its schedule that it has not followed yet. */
    enum decision decision;
    bool is_cancel_asked; /* by its user, alone */
    bool is_final;
    enum job_state state; /* when final */
    double value, violation;
    bool lacks_value; /* it exited with 0, and not all objectives have one */
    int64_t place;    /* among the results */
};

struct deciding {
    const struct experiment *experiment;
    const struct workflow *workflow; /* NULL: it is an experiment */
    struct spec spec;   /* that the events are under, where the file was edited;
                           else nothing */
    int64_t retry_base; /* from which on rules are numbered */
    struct replay *replay;
    struct proof *proof;
    struct judged *jobs; /* [job_count], by id */
    size_t job_count, job_capacity;
    struct tally tally;
    struct budget_change budget;     /* of the run by then; 0: no limit */
    struct convergence *convergence; /* NULL: the budget does not ask */
    /* [fed_count]: what it was given, where some version of the file asks. */
    struct fed *fed;
    size_t fed_count, fed_capacity;
    int64_t earlier_ms;    /* of the lives before */
    int64_t used_ms;       /* by which its time was used up, or 0 */
    int64_t launch_errors; /* in a row */
    bool is_over;          /* the budget's verdict ends the engine */
    unsigned verdicts;     /* bits of those that the engine came by: results
                              that come while it ends do not undo them */
    bool is_hopeless;      /* nothing could be started in it */
    bool was_paused;       /* by its user; what ran then may have been ended */
    bool is_closing; /* paused trials were stopped, and nothing began since */
};

/* Says what does not follow, of a trial (0: none). Returns REPLAY_DIFFERS. */
int deciding_differ(struct deciding *deciding, int64_t trial,
                    const char *format, ...) PRINTF_LIKE(3, 4);

/* replay_decisions_edit.c */
/* The task of a step, or of a trial (-1); NULL: there is no such step. */
const struct job_spec *deciding_task(const struct deciding *deciding,
                                     int64_t step);
const struct link_rule *deciding_link_rule(const struct deciding *deciding,
                                           int64_t step);
/* Of a run whose file was edited: the event that it was created, or edited. The
 * results are to be counted anew then. */
int deciding_begin(struct deciding *deciding);
int deciding_edit(struct deciding *deciding, const json_t *detail);

/* replay_decisions_convergence.c */
/* By the budget of now, with all that was asked and told so far. */
void deciding_create_convergence(struct deciding *deciding);
void deciding_destroy_convergence(struct deciding *deciding);
/* Take in a trial that was suggested, and one that is over, by the event that
 * is read; nothing where no budget of the run asks for convergence. */
void deciding_ask(struct deciding *deciding, int64_t trial);
void deciding_tell(struct deciding *deciding, const struct judged *job);

/* replay_decisions_end.c */
/* Whether that can become of a trial whose attempt has ended. */
int deciding_check_end(struct deciding *deciding, struct judged *job,
                       enum job_event event);
/* Whether the engine could end trials for good then. */
bool deciding_may_stop(const struct deciding *deciding,
                       const struct engine_life *life);

#endif
