/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/workers.h"

#include <stdlib.h>

#include "base/mem.h"

enum { TASKS_AT_ONCE = 3 }; /* libuv has four threads */

struct workers {
    uv_loop_t *loop;
    TAILQ_HEAD(task_queue, task) waiting;
    int running;
};

static void on_work(uv_work_t *work)
{
    struct task *task = work->data;

    task->run(task);
}

static void start_next(struct workers *workers);

static void on_worked(uv_work_t *work, int status)
{
    struct task *task = work->data;
    struct workers *workers = task->workers;

    (void)status;
    workers->running--;
    task->done(task);
    start_next(workers);
}

static void start_next(struct workers *workers)
{
    struct task *task = TAILQ_FIRST(&workers->waiting);

    if (task == NULL || workers->running == TASKS_AT_ONCE)
        return;
    TAILQ_REMOVE(&workers->waiting, task, link);
    workers->running++;
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
