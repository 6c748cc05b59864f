/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_COMM_ABORT_NOTICE_H
#define SMTUNE_TRAINING_COMM_ABORT_NOTICE_H

#include "base/err.h"
#include "training/comm/rendezvous.h"

/*
 * How a rank that gives up tells the others why, whatever way the data takes:
 * by a connection to each one's listener, which a rank that waits for anybody
 * looks at. `whole` is the rendezvous of all ranks.
 */

/* What whoever connects to a rank's listener says first. */
enum abort_notice_kind {
    NOTICE_LINK,    /* this connection is for data */
    NOTICE_GAVE_UP, /* why, in the text */
    NOTICE_WAITING  /* what the sender waits for is not there yet */
};

enum { ABORT_NOTICE_TEXT_MAX = 512 };

struct abort_notice {
    uint64_t magic, token;
    int32_t kind, rank; /* of all ranks */
    char text[ABORT_NOTICE_TEXT_MAX];
};

/* The greeting of this rank. */
void abort_notice_fill(struct abort_notice *notice,
                       const struct rendezvous *whole,
                       enum abort_notice_kind kind, const char *text);

/* Accepts one that has connected. Its socket, or -1: nobody has now, or a
 * stranger. */
int abort_notice_accept(const struct rendezvous *whole,
                        struct abort_notice *notice);

/* Tells all other ranks, within a second; who cannot be reached is not told. */
void abort_notice_spread(const struct rendezvous *whole,
                         enum abort_notice_kind kind, const char *text);

#endif
