/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_GUESTS_H
#define SMTUNE_DASHBOARD_ROUTE_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/err.h"

/*
 * What guests hold of the server at once: viewers, and clients without a token.
 * Their requests for what threads answer, and for files that are expanded for
 * them, count from when they are there to when their answers are sent, and so
 * do the bytes of these. With their streams (streams.h) they hold fewer
 * connections than there are. All in the loop.
 */
enum { GUESTS_REQUESTS_MAX = 192, GUESTS_BYTES_MAX = 256 << 20 };

struct blob;
struct guests;

/* A guest's request, a part of it; all zeroes: it is not counted. */
struct guest {
    LIST_ENTRY(guest) link;
    const struct blob *answer; /* NULL: not sent yet */
    bool is_counted;
};

struct guests *guests_create(void);
/* When none is left. */
void guests_destroy(struct guests *guests);

/* One more request; ERR_SHORTAGE where there are too many. */
int guests_enter(struct guests *guests, struct guest *guest, struct err *err);
/* Its answer, of which the guest holds the blob until it leaves (NULL: it has
 * none). Bytes that several are sent count once. ERR_SHORTAGE where that would
 * be too much; a single answer may have any length. */
int guests_hold(struct guests *guests, struct guest *guest,
                const struct blob *answer, struct err *err);
/* The request is over, or is none that counts. */
void guests_leave(struct guests *guests, struct guest *guest);

#endif
