/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/workers.h"

#include <stdlib.h>

#include "base/mem.h"

/* libuv has four threads. */
_Static_assert(WORKERS_TASKS_MAX == 3, "one thread is the feed's");

struct workers {
    uv_loop_t *loop;
    TAILQ_HEAD(task_queue, task) waiting;
    int running, running_of_guests;
    bool runs_long[2]; /* [is_guests] */
};

static void on_work(uv_work_t *work)
{
    struct task *task = work->data;

    task->run(task);
}

static void count(struct workers *workers, const struct task *task, int by)
{
    workers->running += by;
    if (task->is_guests)
        workers->running_of_guests += by;
    if (task->is_long)
        workers->runs_long[task->is_guests] = by > 0;
}

static bool may_run(const struct workers *workers, const struct task *task)
{
    return workers->running < WORKERS_TASKS_MAX &&
           (!task->is_guests ||
            workers->running_of_guests < WORKERS_GUESTS_MAX) &&
           (!task->is_long || !workers->runs_long[task->is_guests]);
}

static void start_next(struct workers *workers);

static void on_worked(uv_work_t *work, int status)
{
    struct task *task = work->data;
    struct workers *workers = task->workers;

    (void)status;
    count(workers, task, -1);
    task->done(task);
    start_next(workers);
}

/* One that waits, or has just come: what ends makes room for one more. */
static void start_next(struct workers *workers)
{
    struct task *task;

    TAILQ_FOREACH(task, &workers->waiting, link)
    {
        if (may_run(workers, task))
            break;
    }
    if (task == NULL)
        return;
    TAILQ_REMOVE(&workers->waiting, task, link);
    count(workers, task, 1);
    task->work.data = task;
    uv_queue_work(workers->loop, &task->work, on_work, on_worked);
}

struct workers *workers_create(uv_loop_t *loop)
{
    struct workers *workers = mem_zero(sizeof(*workers));

    workers->loop = loop;
    TAILQ_INIT(&workers->waiting);
    return workers;
}

void workers_destroy(struct workers *workers)
{
    free(workers);
}

void workers_add(struct workers *workers, struct task *task)
{
    task->workers = workers;
    TAILQ_INSERT_TAIL(&workers->waiting, task, link);
    start_next(workers);
}

void workers_drop_waiting(struct workers *workers)
{
    struct task *task;

    while ((task = TAILQ_FIRST(&workers->waiting)) != NULL) {
        TAILQ_REMOVE(&workers->waiting, task, link);
        task->is_dropped = true;
        task->done(task);
    }
}
