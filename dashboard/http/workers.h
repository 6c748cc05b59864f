/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_WORKERS_H
#define SMTUNE_DASHBOARD_HTTP_WORKERS_H

#include <sys/queue.h>
#include <uv.h>

/*
 * Tasks in libuv's threads, in the order in which they come, of which fewer are
 * done at a time than there are threads: however much clients ask, the feed's
 * look has a thread at once.
 */

struct workers;

struct task {
    void (*run)(struct task *task);  /* in a thread */
    void (*done)(struct task *task); /* in the loop, after it */
    /* The workers' own: */
    uv_work_t work;
    struct workers *workers;
    TAILQ_ENTRY(task) link;
};

struct workers *workers_create(uv_loop_t *loop);
/* When no task is left. */
void workers_destroy(struct workers *workers);
/* The task is the caller's to keep until it is done. */
void workers_add(struct workers *workers, struct task *task);

#endif
