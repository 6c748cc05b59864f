/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/work_queue.h"

#include <stdlib.h>

#include "base/mem.h"

struct work_queue {
    uv_loop_t *loop;
    const struct work_queue_ops *ops;
    void *owner;
    TAILQ_HEAD(work_items, work_item) items;
    uv_work_t work;
    atomic_bool stop;
    bool is_busy; /* with the first: the thread is, or who is told of it */
    bool is_closing;
};

static void on_work(uv_work_t *work)
{
    struct work_queue *queue = work->data;

    queue->ops->work(queue->owner, TAILQ_FIRST(&queue->items), &queue->stop);
}

static void start(struct work_queue *queue);

static void drop_first(struct work_queue *queue)
{
    struct work_item *item = TAILQ_FIRST(&queue->items);

    TAILQ_REMOVE(&queue->items, item, link);
    queue->ops->destroy(item);
}

static void on_worked(uv_work_t *work, int status)
{
    struct work_queue *queue = work->data;
    struct work_item *item = TAILQ_FIRST(&queue->items);
    bool goes_on = false;

    (void)status;
    if (item->user != NULL && !queue->is_closing)
        goes_on = queue->ops->done(queue->owner, item);
    queue->is_busy = false;
    if (!goes_on)
        drop_first(queue);
    if (queue->is_closing)
        work_queue_destroy(queue);
    else
        start(queue);
}

static void start(struct work_queue *queue)
{
    if (queue->is_busy || TAILQ_EMPTY(&queue->items))
        return;
    queue->is_busy = true;
    atomic_store(&queue->stop, false);
    uv_queue_work(queue->loop, &queue->work, on_work, on_worked);
}

struct work_queue *work_queue_create(uv_loop_t *loop,
                                     const struct work_queue_ops *ops,
                                     void *owner)
{
    struct work_queue *queue = mem_zero(sizeof(*queue));

    queue->loop = loop;
    queue->ops = ops;
    queue->owner = owner;
    queue->work.data = queue;
    TAILQ_INIT(&queue->items);
    return queue;
}

void work_queue_destroy(struct work_queue *queue)
{
    queue->is_closing = true;
    atomic_store(&queue->stop, true);
    if (queue->is_busy)
        return;
    while (!TAILQ_EMPTY(&queue->items))
        drop_first(queue);
    queue->ops->closed(queue->owner);
    free(queue);
}

void work_queue_add(struct work_queue *queue, struct work_item *item)
{
    TAILQ_INSERT_TAIL(&queue->items, item, link);
    start(queue);
}

void work_queue_forget(struct work_queue *queue, const void *user)
{
    struct work_item *first = TAILQ_FIRST(&queue->items), *item, *next;

    for (item = first; item != NULL; item = next) {
        next = TAILQ_NEXT(item, link);
        if (item->user != user)
            continue;
        if (item == first && queue->is_busy) {
            item->user = NULL;
            atomic_store(&queue->stop, true);
        } else {
            TAILQ_REMOVE(&queue->items, item, link);
            queue->ops->destroy(item);
        }
    }
}
