/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_LOCAL_ADOPTED_H
#define SMTUNE_EXECUTORS_LOCAL_ADOPTED_H

#include <uv.h>

#include "executors/executor.h"

/*
 * Attempts whose agent is not (or no longer) ours to talk to: known by their
 * files alone, which are looked at every ADOPTED_POLL_MS, those of many a slice
 * at a time.
 */

enum { ADOPTED_POLL_MS = 100 };

struct adopted_list;

/* `ended` is called from the loop. */
struct adopted_list *adopted_create(uv_loop_t *loop,
                                    void (*ended)(void *user,
                                                  const struct attempt_exit *),
                                    void *user);
/* Forgets them all, which run on; `closed` is called from the loop. */
void adopted_close(struct adopted_list *list, void (*closed)(void *user),
                   void *user);

/* As executor_reattach(). */
int adopted_add(struct adopted_list *list, const struct attempt_spec *spec,
                struct err *err);

/* The same where that failed: it is looked at until it can be told. */
void adopted_add_unseen(struct adopted_list *list,
                        const struct attempt_spec *spec);

/* The pid of an adopted attempt's command; 0 when it is not known. */
int64_t adopted_pid(const struct adopted_list *list, int64_t attempt);

/* `ended` with CAUSE_LOST follows. */
void adopted_add_lost(struct adopted_list *list, int64_t attempt);

/* Returns whether the attempt is among them. */
bool adopted_cancel(struct adopted_list *list, int64_t attempt,
                    enum cancel_mode mode);

#endif
