/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_THREAD_H
#define SMTUNE_TRAINING_COMM_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * What ranks do together while they compute: jobs that a thread beside does,
 * one after the other in the order in which they were given, which must be the
 * same on all ranks. When one has failed the others are left out.
 */
struct comm_thread;

/* A job: what, and of which bucket. */
typedef int comm_job(void *user, int what, int bucket, struct err *err);

/* With is_beside false jobs are done at once, by whoever gives them. The
 * caller's to destroy. */
struct comm_thread *comm_thread_create(comm_job *job, void *user,
                                       bool is_beside, struct err *err);
/* After what has been given is done; takes NULL. */
void comm_thread_destroy(struct comm_thread *thread);

/* Gives a job; its number, from 1. */
uint64_t comm_thread_give(struct comm_thread *thread, int what, int bucket);
/* Until the job of that number is done, and all before it. -1 when one
 * failed. */
int comm_thread_await(struct comm_thread *thread, uint64_t number,
                      struct err *err);
/* How long jobs have kept whoever gives and awaits them from its own work,
 * since the last time it was asked. */
double comm_thread_take_waited_ms(struct comm_thread *thread);

#endif
