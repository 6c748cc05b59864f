/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "training/util/stopwatch.h"

enum { RING = 256 };

struct given {
    int what, bucket;
};

/* The lock is of everything below it. */
struct comm_thread {
    comm_job *job;
    void *user;
    bool is_beside;
    pthread_t thread;
    double waited_ms; /* the giver's alone */
    pthread_mutex_t lock;
    pthread_cond_t more, less; /* jobs to do */
    struct given ring[RING];
    uint64_t given, done;
    bool has_failed, is_over;
    struct err why;
};

static void do_one(struct comm_thread *thread)
{
    const struct given given = thread->ring[thread->done % RING];
    bool has_failed = thread->has_failed;
    struct err why = {.text = ""};

    pthread_mutex_unlock(&thread->lock);
    if (!has_failed)
        has_failed =
            thread->job(thread->user, given.what, given.bucket, &why) != 0;
    pthread_mutex_lock(&thread->lock);
    if (has_failed && !thread->has_failed)
        thread->why = why;
    thread->has_failed = has_failed;
    thread->done++;
    pthread_cond_signal(&thread->less);
}

static void *work(void *user)
{
    struct comm_thread *thread = user;

    pthread_mutex_lock(&thread->lock);
    while (!thread->is_over || thread->done < thread->given) {
        if (thread->done < thread->given)
            do_one(thread);
        else
            pthread_cond_wait(&thread->more, &thread->lock);
    }
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

/* Signals are for the thread that computes. */
static int start(struct comm_thread *thread)
{
    sigset_t all, before;
    int status;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&thread->thread, NULL, work, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

struct comm_thread *comm_thread_create(comm_job *job, void *user,
                                       bool is_beside, struct err *err)
{
    struct comm_thread *thread = mem_zero(sizeof(*thread));
    int status;

    thread->job = job;
    thread->user = user;
    thread->is_beside = is_beside;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->more, NULL);
    pthread_cond_init(&thread->less, NULL);
    status = is_beside ? start(thread) : 0;
    if (status == 0)
        return thread;
    err_set_errno(err, ERR_FAILED, status, "cannot start a thread");
    thread->is_beside = false;
    comm_thread_destroy(thread);
    return NULL;
}

void comm_thread_destroy(struct comm_thread *thread)
{
    if (thread == NULL)
        return;
    if (thread->is_beside) {
        pthread_mutex_lock(&thread->lock);
        thread->is_over = true;
        pthread_cond_signal(&thread->more);
        pthread_mutex_unlock(&thread->lock);
        pthread_join(thread->thread, NULL);
    }
    pthread_cond_destroy(&thread->less);
    pthread_cond_destroy(&thread->more);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}

uint64_t comm_thread_give(struct comm_thread *thread, int what, int bucket)
{
    double start_ms = stopwatch_ms();
    uint64_t number;

    pthread_mutex_lock(&thread->lock);
    while (thread->given - thread->done == RING)
        pthread_cond_wait(&thread->less, &thread->lock);
    thread->ring[thread->given % RING] = (struct given){what, bucket};
    number = ++thread->given;
    if (thread->is_beside)
        pthread_cond_signal(&thread->more);
    else
        do_one(thread);
    pthread_mutex_unlock(&thread->lock);
    thread->waited_ms += stopwatch_ms() - start_ms;
    return number;
}

int comm_thread_await(struct comm_thread *thread, uint64_t number,
                      struct err *err)
{
    double start_ms = stopwatch_ms();
    int status = 0;

    pthread_mutex_lock(&thread->lock);
    while (thread->done < number)
        pthread_cond_wait(&thread->less, &thread->lock);
    if (thread->has_failed) {
        status = -1;
        if (err != NULL)
            *err = thread->why;
    }
    pthread_mutex_unlock(&thread->lock);
    thread->waited_ms += stopwatch_ms() - start_ms;
    return status;
}

double comm_thread_take_waited_ms(struct comm_thread *thread)
{
    double waited_ms = thread->waited_ms;

    thread->waited_ms = 0;
    return waited_ms;
}
