/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/sharing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/steps/work_queue.h"

struct question {
    struct work_item item;
    struct shard *shards;
    size_t count;
    int result;
    struct err err;
};

struct sharing {
    struct work_queue *queue;
    void *owner;
    sharing_done_fn *done;
};

static void link_all(void *owner, struct work_item *item,
                     const atomic_bool *stop)
{
    struct question *question = (struct question *)item;

    (void)owner;
    for (size_t i = 0; i < question->count && question->result == 0; i++)
        question->result =
            shards_link(&question->shards[i], stop, &question->err);
}

static bool tell(void *owner, struct work_item *item)
{
    const struct sharing *sharing = owner;
    const struct question *question = (struct question *)item;

    sharing->done(sharing->owner, item->user,
                  question->result != 0 ? &question->err : NULL);
    return false;
}

static void destroy_question(struct work_item *item)
{
    struct question *question = (struct question *)item;

    for (size_t i = 0; i < question->count; i++) {
        free(question->shards[i].source);
        free(question->shards[i].list);
        free(question->shards[i].target);
    }
    free(question->shards);
    free(question);
}

static const struct work_queue_ops ops = {link_all, tell, destroy_question,
                                          free};

struct sharing *sharing_create(uv_loop_t *loop, void *owner,
                               sharing_done_fn *done)
{
    struct sharing *sharing = mem_zero(sizeof(*sharing));

    sharing->queue = work_queue_create(loop, &ops, sharing);
    sharing->owner = owner;
    sharing->done = done;
    return sharing;
}

void sharing_destroy(struct sharing *sharing)
{
    if (sharing != NULL)
        work_queue_destroy(sharing->queue);
}

void sharing_ask(struct sharing *sharing, struct shard *shards, size_t count,
                 void *user)
{
    struct question *question = mem_zero(sizeof(*question));

    question->item.user = user;
    question->shards = shards;
    question->count = count;
    work_queue_add(sharing->queue, &question->item);
}

void sharing_forget(struct sharing *sharing, const void *user)
{
    work_queue_forget(sharing->queue, user);
}
