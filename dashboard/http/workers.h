/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_WORKERS_H
#define SMTUNE_DASHBOARD_HTTP_WORKERS_H

#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

/*
 * Tasks in libuv's threads, in the order in which they come, of which fewer are
 * done at a time than there are threads: however much clients ask, the feed's
 * look has a thread at once. Guests' tasks leave a thread to the others', and
 * each of the two does one long task at a time, so that short ones never wait
 * for many of them.
 */
enum { WORKERS_TASKS_MAX = 3, WORKERS_GUESTS_MAX = 2 };

struct workers;

struct task {
    void (*run)(struct task *task);  /* in a thread */
    void (*done)(struct task *task); /* in the loop, after it */
    bool is_guests;                  /* of who must not keep others waiting */
    bool is_long;                    /* takes tenths of a second */
    bool is_dropped;                 /* done, and was not run */
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
/* Tasks that wait for a thread are done now, without being run. */
void workers_drop_waiting(struct workers *workers);

#endif
