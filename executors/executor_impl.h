/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_EXECUTOR_IMPL_H
#define SMTUNE_EXECUTORS_EXECUTOR_IMPL_H

#include "executors/executor.h"

/*
 * What an executor implements; only the files of executors/ include this.
 * No slot but `check` and `preview` may be NULL. None calls an event: events
 * come from the loop.
 */
struct executor_type {
    const char *name;
    bool has_reserves; /* it queues those of an attempt_spec */

    /* Copies what it needs of options and *events. */
    struct executor *(*create)(uv_loop_t *loop,
                               const struct executor_options *options,
                               const struct executor_events *events,
                               struct err *err);
    /* Calls no event any more; `done` when its last handle is closed. May be
     * called from within an event. */
    void (*destroy)(struct executor *executor, void (*done)(void *user),
                    void *user);

    enum start_result (*start)(struct executor *executor,
                               const struct attempt_spec *spec, uint32_t *lacks,
                               struct err *err);
    void (*cancel)(struct executor *executor, int64_t attempt,
                   enum cancel_mode mode);
    int (*reattach)(struct executor *executor, const struct attempt_spec *spec,
                    struct err *err);

    void (*avoid)(struct executor *executor, const char *const *nodes);
    int (*cpus)(const struct executor *executor);
    int (*gpus)(const struct executor *executor);
    /* NULL: nothing is known before it starts one. */
    int (*check)(const struct executor_options *options,
                 const struct attempt_spec *spec, struct err *err);
    /* NULL: it submits nothing. */
    int (*preview)(const struct executor_options *options,
                   const struct attempt_spec *spec, const char *folder,
                   struct buf *out, struct err *err);
};

/* The first member of every executor. */
struct executor {
    const struct executor_type *type;
};

extern const struct executor_type executor_local;
extern const struct executor_type executor_fake;
extern const struct executor_type executor_slurm;

#endif
