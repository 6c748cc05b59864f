/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_REPLAY_FLOW_IMPL_H
#define SMTUNE_ORCHESTRATOR_PROOF_REPLAY_FLOW_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/job/states.h"
#include "orchestrator/proof/replay_impl.h"
#include "orchestrator/steps/step_records.h"
#include "orchestrator/steps/steps.h"

/* What the files of the proof of the flow share: replay_flow.c gives events to
 * their parts and judges those of steps, replay_flow_job.c judges those of
 * jobs, replay_flow_edit.c follows a file that was edited, and
 * replay_flow_differ.c reports what differs. What returns an int returns what a
 * judge does (replay_impl.h). */

struct flow_job {
    int64_t id, number;
    size_t step;
    int64_t copy, round;
    char *rounds;    /* NULL: none */
    bool is_refused; /* its condition says no */
    bool is_to_fail; /* its condition cannot be told */
    bool is_over;
};

/* What a copy whose round has ended well is to go on with. */
struct next_round {
    size_t step;
    int64_t copy, round;
    char *rounds;
};

struct proving {
    const struct workflow *workflow;
    struct spec spec; /* that the events are under, where the file was edited;
                         else nothing */
    char *run_name;
    struct steps *steps;
    struct step_record *records; /* [step_count], where the file was edited */
    struct replay *replay;
    struct proof *proof;
    struct flow_job *jobs; /* [job_count] by id */
    size_t job_count, job_capacity;
    struct next_round *rounds; /* [round_count] */
    size_t round_count, round_capacity;
    bool *cannot_begin; /* [step_count] */
};

/* replay_flow_differ.c */
/* Reports what does not follow, of a job (NULL: of none). Returns
 * REPLAY_DIFFERS. */
int proving_differ(struct proving *proving, const struct flow_job *job,
                   const char *format, ...) PRINTF_LIKE(3, 4);
/* The same: something is recorded ("it began"), but `next` comes next. */
int proving_next_differs(struct proving *proving, const struct flow_job *job,
                         const char *recorded, const struct flow_next *next);
/* Borrowed from the file. */
const char *proving_step_name(const struct proving *proving, size_t step);
/* Whether the detail of an event has a step of the file. */
bool proving_find_step(const struct proving *proving, const json_t *detail,
                       size_t *step);

/* replay_flow_job.c */
/* The event that is read, which has a job. */
int proving_job_event(struct proving *proving, const json_t *detail);

/* replay_flow_edit.c */
/* Note what an edit takes over; nothing where the file was not edited, but
 * that temporary outputs of a step are cut off is noted always. */
void proving_note_state(struct proving *proving, size_t step,
                        enum flow_state state);
void proving_note_cut_off(struct proving *proving, size_t step);
void proving_note_begin(struct proving *proving, size_t step,
                        const json_t *detail);
/* `outputs` is JSON, or NULL. */
void proving_note_job(struct proving *proving, const struct flow_job *job,
                      enum job_state state, const char *outputs);
/* Of a run whose file was edited: the event that it was created (the first), or
 * edited. */
int proving_take_file(struct proving *proving, bool is_first);

#endif
