/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_RENDEZVOUS_H
#define SMTUNE_TRAINING_COMM_RENDEZVOUS_H

#include <stdint.h>

#include "base/err.h"
#include "training/comm/link.h"
#include "training/comm/ranks.h"

/*
 * How ranks get to know each other. Rank 0 listens on MASTER_PORT, the others
 * connect to MASTER_ADDR, again and again until the time limit, and say who
 * they are; when all have come, rank 0 tells everybody about all. Whoever
 * connects and does not speak as a rank is sent away.
 */

enum { RENDEZVOUS_PLACE_MAX = 128, RENDEZVOUS_TERMS_MAX = 64 };
enum { RENDEZVOUS_HEARD_MAX = 128 };

/* What ranks know of each other; sent as it is. */
struct rendezvous_peer {
    int32_t rank;
    int32_t port; /* where it listens, at `address` */
    int64_t pid;
    int32_t memory_fd; /* an empty memory file of its own, in that process */
    int32_t reserved;
    char host[RANKS_HOST_MAX];        /* for messages */
    char address[LINK_ADDRESS_MAX];   /* as the others can reach it */
    char place[RENDEZVOUS_PLACE_MAX]; /* equal: these two can share memory */
};

struct rendezvous {
    const struct rendezvous *whole; /* which this is a part of, or itself */
    int size, rank;                 /* rank: this one's place in peers */
    struct rendezvous_peer *peers;  /* [size] */
    uint64_t token;                 /* what strangers do not know */
    int listener;                   /* of this rank; -1: none */
    int memory_fd;                  /* of this rank; -1: none */
    /* [ranks of the whole]: where one waits in vain, as it says; or "" */
    char (*heard)[RENDEZVOUS_HEARD_MAX];
};

/*
 * Waits for all ranks. `terms` is what they must have the same of besides
 * their number, in words: "comm auto". NULL with an error that says who has not
 * come, who is there twice, or who was told something else; all that came
 * are told the same. The caller's to destroy.
 */
struct rendezvous *rendezvous_hold(const struct ranks *ranks, const char *terms,
                                   int64_t timeout_ms, struct err *err);

/* Some of the ranks among themselves: peers[0 .. count - 1] are places in the
 * whole one's, in order, this rank among them. It has no sockets of its own:
 * those are the whole one's. */
struct rendezvous *rendezvous_part(const struct rendezvous *whole,
                                   const int *places, int count);

void rendezvous_destroy(struct rendezvous *rendezvous); /* takes NULL */

#endif
