/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/sharing.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"

struct question {
    STAILQ_ENTRY(question) link;
    void *user; /* NULL: forgotten */
    struct shard *shards;
    size_t count;
    int result;
    struct err err;
};

struct sharing {
    uv_loop_t *loop;
    void *owner;
    sharing_done_fn *done;
    STAILQ_HEAD(questions, question) questions; /* the thread has the first */
    uv_work_t work;
    bool is_working, is_closing;
};

static void remove_first(struct sharing *sharing)
{
    struct question *question = STAILQ_FIRST(&sharing->questions);

    STAILQ_REMOVE_HEAD(&sharing->questions, link);
    for (size_t i = 0; i < question->count; i++) {
        free(question->shards[i].source);
        free(question->shards[i].list);
        free(question->shards[i].target);
    }
    free(question->shards);
    free(question);
}

static void on_work(uv_work_t *work)
{
    struct sharing *sharing = work->data;
    struct question *question = STAILQ_FIRST(&sharing->questions);

    for (size_t i = 0; i < question->count && question->result == 0; i++)
        question->result = shards_link(&question->shards[i], &question->err);
}

static void start_work(struct sharing *sharing);

static void on_worked(uv_work_t *work, int status)
{
    struct sharing *sharing = work->data;
    const struct question *question = STAILQ_FIRST(&sharing->questions);

    (void)status;
    /* What is told may lead to any call: the thread is not to begin yet. */
    if (question->user != NULL && !sharing->is_closing)
        sharing->done(sharing->owner, question->user,
                      question->result != 0 ? &question->err : NULL);
    sharing->is_working = false;
    remove_first(sharing);
    if (sharing->is_closing)
        sharing_destroy(sharing);
    else
        start_work(sharing);
}

static void start_work(struct sharing *sharing)
{
    if (sharing->is_working || STAILQ_EMPTY(&sharing->questions))
        return;
    sharing->is_working = true;
    uv_queue_work(sharing->loop, &sharing->work, on_work, on_worked);
}

struct sharing *sharing_create(uv_loop_t *loop, void *owner,
                               sharing_done_fn *done)
{
    struct sharing *sharing = mem_zero(sizeof(*sharing));

    sharing->loop = loop;
    sharing->owner = owner;
    sharing->done = done;
    sharing->work.data = sharing;
    STAILQ_INIT(&sharing->questions);
    return sharing;
}

void sharing_destroy(struct sharing *sharing)
{
    if (sharing == NULL)
        return;
    sharing->is_closing = true;
    if (sharing->is_working)
        return;
    while (!STAILQ_EMPTY(&sharing->questions))
        remove_first(sharing);
    free(sharing);
}

void sharing_ask(struct sharing *sharing, struct shard *shards, size_t count,
                 void *user)
{
    struct question *question = mem_zero(sizeof(*question));

    question->user = user;
    question->shards = shards;
    question->count = count;
    STAILQ_INSERT_TAIL(&sharing->questions, question, link);
    start_work(sharing);
}

void sharing_forget(struct sharing *sharing, const void *user)
{
    struct question *question;

    STAILQ_FOREACH(question, &sharing->questions, link)
    {
        if (question->user == user)
            question->user = NULL;
    }
}
