/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_NOTIFY_H
#define SMTUNE_ORCHESTRATOR_RUN_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/json.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

/*
 * Messages to the receivers that an experiment's file names (`notify`), by way
 * of a table of the store: a message is recorded in the transaction of what it
 * tells of, and sent after its commit, again and again until the receiver takes
 * it, also by a later engine. So none is lost; one may come twice, with the
 * same X-Smtune-Delivery.
 *
 * Each receiver gets one message at a time, in their order. An answer 2xx takes
 * it; 408, 425, 429, 5xx and no answer are tried again after 1 s, 4 s, 16 s
 * ... at most an hour, ten times in all; any other answer gives it up.
 */
struct notifier;

/* Takes up what waits in the record. ERR_FAILED: there is no libcurl;
 * ERR_USAGE: a secret's environment variable is not set. */
struct notifier *notifier_create(uv_loop_t *loop, struct store *store,
                                 int64_t run,
                                 const struct experiment *experiment,
                                 struct err *err);
/* ERR_USAGE likewise, without more. */
int notifier_check(const struct experiment *experiment, struct err *err);
/* Gives up what is on its way; it is sent again by the next one. The memory is
 * released from the loop. NULL is none. */
void notifier_destroy(struct notifier *notifier);

/* Whether anyone wants to hear of it. */
bool notifier_wants(const struct notifier *notifier, enum notify_event event);
/* Records a message to each receiver who wants it (the others are passed
 * over), in the open transaction. message is an object, to which what names
 * the delivery is added; the caller's. */
int notifier_add(struct notifier *notifier, enum notify_event event,
                 json_t *message, struct err *err);
/* After a commit: sends what may be sent. */
void notifier_send(struct notifier *notifier);

/*
 * Turns the loop, and sends, until no message waits, `patience_ms` have passed
 * or `turn` does not return 0. That is called after each turn, at least every
 * 100 ms, and records what has been answered. Returns what it returned last.
 */
int notifier_deliver(struct notifier *notifier, int64_t patience_ms,
                     int (*turn)(void *user), void *user);

/* Whether a message has been answered since notifier_record. */
bool notifier_has_news(const struct notifier *notifier);
/* Records the answers, in the open transaction. */
int notifier_record(struct notifier *notifier, struct err *err);

/* Messages that are neither delivered nor given up. */
size_t notifier_waiting(const struct notifier *notifier);

#endif
