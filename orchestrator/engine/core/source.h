/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_SOURCE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_SOURCE_H

#include "base/metrics/metrics.h"
#include "orchestrator/engine/core/state.h"
#include "orchestrator/run/reopen_steps.h"
#include "orchestrator/search/feedback.h"

struct taking_up; /* take_up.h */

/*
 * What is next, as a table: a search, a search with a schedule, and a workflow
 * each have a const struct source (source/search.h, schedule.h, flow.h), and
 * engine.c chooses. Whatever differs between them is a slot, called through
 * engine->source; none may be NULL. Where a slot fails, it has broken the
 * engine, but for those that have an err.
 */
struct source {
    /* The budget counts trials, settings may be enqueued, and a run in which
     * nothing can be started is over. */
    bool is_search;

    /* ---- a session begins ---- */

    /* Makes what it decides with. -1 with err. */
    int (*open)(struct engine *engine, struct err *err);
    /* Reads from the record what it decided before; each job that is not over
     * comes into memory. -1 with taking_up->err. */
    int (*read)(struct taking_up *taking_up);
    /* Makes the job of a row, in a state, ready or waiting. NULL with
     * taking_up->err. */
    struct job *(*take_up)(struct taking_up *taking_up,
                           const struct trial_row *row, enum job_state state);
    /* Its attempts have been read: where it goes on from. -1 with err. */
    int (*locate)(const struct engine *engine, struct job *trial,
                  struct err *err);
    /* All of them are in memory. */
    void (*taken_up)(struct engine *engine);

    /* ---- jobs begin ---- */

    /* Takes one step that it wants next; a new job is ready. False when there
     * is none to be had before others have ended. */
    bool (*next)(struct engine *engine);
    /* A ready job is to have an attempt; false: it waits for something first,
     * and has left the ready ones. */
    bool (*begin_attempt)(struct engine *engine, struct job *trial);
    /* What that attempt runs; the caller's. NULL with err: it cannot start. */
    struct launch *(*launch)(struct engine *engine, struct job *trial,
                             struct err *err);

    /* ---- jobs end ---- */

    /* A live job wrote a point of a curve, which it keeps, or not. */
    void (*follow)(struct engine *engine, struct job *trial,
                   const struct metric_point *point);
    /* What a live job wrote has been read; what is due by time. */
    void (*look)(struct engine *engine, struct job *trial);
    /* Its attempt has ended and all was read: 1, and end.cause says whether it
     * ended well; 0: not known before `seal` is SEAL_DONE; -1 with err: it
     * cannot be read now. */
    int (*judge)(struct engine *engine, struct job *trial, struct err *err);
    /* Records the attempt's end, which means the event; returns what it means
     * to the job. */
    enum job_event (*end_attempt)(struct engine *engine, struct job *trial,
                                  enum job_event event,
                                  struct attempt_end *end);
    /* In the open transaction: the job is over, and counted. */
    void (*ended)(struct engine *engine, struct job *trial,
                  const struct feedback_item *item);

    /* What was recorded so far is committed. */
    void (*committed)(struct engine *engine);

    /* ---- what people ask for ---- */

    /* 0: a setting may be enqueued now; else -1 with err. */
    int (*may_enqueue)(const struct engine *engine, struct err *err);
    /* Adds to steps->found what else is put back with it. -1 with err. */
    int (*find_reopened)(struct engine *engine,
                         const struct reopen_request *wanted,
                         struct reopen_steps *steps, struct err *err);
    /* In the open transaction: those jobs have been put back. */
    void (*reopened)(struct engine *engine, const struct reopen_steps *steps);
    /* Fills in method, method_reason and steps. Valid until the next call. */
    void (*describe)(struct engine *engine, struct engine_status *status);
    /* Whether nothing starts because of it; why, in words, and *about is a
     * number that differs when these do. */
    bool (*is_idle)(const struct engine *engine, int64_t *about,
                    struct buf *out);

    /* ---- the run ends ---- */

    /* Jobs that wait for something of its own are ready again. */
    void (*recall)(struct engine *engine);
    /* Ends what has not come to its end, some of it a turn. False when there is
     * no more. */
    bool (*close)(struct engine *engine);
    /* Sets the result of a run that came to its end by itself. */
    void (*conclude)(struct engine *engine);
};

#endif
