/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "executors/slurm/core.h"

/*
 * Jobs that the queue has forgotten are looked up in the accounting, all of a
 * turn in one request. It lags behind the queue, so one that it believes to be
 * waiting or running still is asked for a few times.
 */

enum { ASK_MAX = 5, BATCH_MAX = 1000 };

struct slurm_question {
    struct slurm_question *next;
    struct slurm_target target;
    int asked;     /* times */
    bool is_asked; /* in the request on its way */
    bool is_known; /* the answer has it, and it has ended */
    void (*answered)(void *user, bool is_known);
    void *user;
};

void slurm_ask_account(struct slurm *slurm, const struct slurm_target *target,
                       void (*answered)(void *user, bool is_known), void *user)
{
    struct slurm_question *question = mem_zero(sizeof(*question));

    question->target = *target;
    question->answered = answered;
    question->user = user;
    question->next = slurm->accounts.first;
    slurm->accounts.first = question;
    slurm_turn_soon(slurm);
}

/* Answers what was in the request, or all where `all` is set. */
static void settle(struct slurm *slurm, bool all)
{
    struct slurm_question **link = &slurm->accounts.first;
    struct slurm_question *done = NULL;

    while (*link != NULL) {
        struct slurm_question *question = *link;

        if (!all && (!question->is_asked ||
                     (!question->is_known && question->asked < ASK_MAX))) {
            question->is_asked = false;
            link = &question->next;
            continue;
        }
        *link = question->next;
        question->next = done;
        done = question;
    }
    while (done != NULL) {
        struct slurm_question *question = done;

        done = question->next;
        question->answered(question->user, question->is_known);
        free(question);
    }
}

static void mark_known(struct slurm *slurm, const struct slurm_job *job)
{
    for (struct slurm_question *q = slurm->accounts.first; q != NULL;
         q = q->next)
        q->is_known |= q->is_asked && q->target.task == job->task &&
                       q->target.id == slurm_job_submitted(job);
}

static void on_account(void *user, const struct slurm_reply *reply,
                       const struct slurm_job *jobs, size_t count)
{
    struct slurm *slurm = user;

    slurm->accounts.is_asking = false;
    if (reply->answer == SLURM_REFUSED) {
        slurm->site.has_accounting = false;
        settle(slurm, true);
        return;
    }
    for (struct slurm_question *q = slurm->accounts.first; q != NULL;
         q = q->next) {
        q->asked += q->is_asked && reply->answer == SLURM_DONE;
        q->is_asked &= reply->answer == SLURM_DONE;
    }
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].state->phase != SLURM_ENDED)
            continue;
        mark_known(slurm, &jobs[i]);
        slurm_route(slurm, &jobs[i]);
    }
    settle(slurm, false);
}

void slurm_accounts_ask(struct slurm *slurm)
{
    struct slurm_accounts *accounts = &slurm->accounts;
    int64_t *ids;
    size_t count = 0;

    if (accounts->first == NULL || accounts->is_asking)
        return;
    if (slurm->has_site && !slurm->site.has_accounting) {
        settle(slurm, true);
        return;
    }
    if (!slurm->has_site || !slurm_watch_allows(slurm))
        return;
    ids = mem_array(BATCH_MAX, sizeof(*ids));
    for (struct slurm_question *q = accounts->first;
         q != NULL && count < BATCH_MAX; q = q->next) {
        q->is_asked = true;
        if (count == 0 || ids[count - 1] != q->target.id)
            ids[count++] = q->target.id;
    }
    accounts->is_asking = true;
    slurm->transport->type->account(slurm->transport, ids, count,
                                    slurm->names.since_ms, on_account, slurm);
    free(ids);
}

void slurm_accounts_clear(struct slurm_accounts *accounts)
{
    while (accounts->first != NULL) {
        struct slurm_question *question = accounts->first;

        accounts->first = question->next;
        free(question);
    }
}
