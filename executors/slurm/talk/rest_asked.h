/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_REST_ASKED_H
#define SMTUNE_EXECUTORS_SLURM_TALK_REST_ASKED_H

#include "executors/slurm/talk/rest_impl.h"
#include "executors/slurm/talk/rest_link.h"

/* The inside of the transport rest: what was asked of it and not answered. Only
 * executors/slurm/talk/rest*.c include this. */

struct rest {
    struct slurm_transport base;
    struct rest_link *link;
    struct asked *asked; /* all that have not been answered */
    void (*destroyed)(void *user);
    void *destroyed_user;
};

struct asked {
    struct asked *next, **self;
    struct rest *rest;
    union {
        slurm_submit_fn *submit;
        slurm_list_fn *list;
        slurm_done_fn *done;
        slurm_site_fn *site;
    } done;
    void *user;
    struct slurm_reply reply; /* the worst so far */
    size_t left;              /* answers that are not there yet */
    char *prefix;
    char *name; /* whose associations are asked for */
    int64_t since_ms;
    int signal;
    struct slurm_target *targets; /* [left] */
    struct slurm_rest_rows rows;
    struct slurm_site site;
};

/* One more, all zero but for who asks. */
struct asked *rest_ask(struct slurm_transport *transport, void *user);

/* What an answer is made of is released after it was given: first it is taken
 * out of the list, for the transport may be destroyed meanwhile. */
void rest_unlink(struct asked *asked);
void rest_asked_destroy(struct asked *asked);

/* The worse of two; the later, where they are the same. */
void rest_take_reply(struct asked *asked, const struct slurm_reply *reply);

void rest_cancel(struct slurm_transport *transport,
                 const struct slurm_target *targets, size_t count, int signal,
                 slurm_done_fn *done, void *user);

#endif
