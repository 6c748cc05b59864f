/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_RENDEZVOUS_HOST_H
#define SMTUNE_TRAINING_COMM_RENDEZVOUS_HOST_H

#include "training/comm/rendezvous.h"

/* Rank 0's part in a rendezvous, and what is said there: one hello, then one
 * verdict, which the table of peers follows where it is a good one. */

/* Of this version, and of a machine that stores numbers alike. */
#define RENDEZVOUS_MAGIC UINT64_C(0x534d52414e4b0001)

struct rendezvous_hello {
    uint64_t magic;
    int32_t size, reserved;
    struct rendezvous_peer peer;
    char terms[RENDEZVOUS_TERMS_MAX];
};

struct rendezvous_verdict {
    uint64_t magic, token;
    int32_t is_refused, reserved;
    char text[ERR_TEXT_MAX]; /* why */
};

/* Receives the others until the deadline. `own` is what this rank would have
 * said. Fills it->peers. 0; -1 where one did not come, or wants something
 * else: err says which, and so do the others. */
int rendezvous_be_host(struct rendezvous *it, const struct ranks *ranks,
                       struct rendezvous_hello *own, int64_t deadline_ms,
                       struct err *err);

#endif
