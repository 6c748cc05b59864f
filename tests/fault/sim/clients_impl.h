/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_CLIENTS_IMPL_H
#define SMTUNE_TESTS_FAULT_SIM_CLIENTS_IMPL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "tests/fault/sim/clients.h"
#include "tests/fault/sim/history.h"

/* What clients.c, which carries words to and fro, and requests.c, which knows
 * what is asked and what follows from the answer, have of each other. */

enum { MAX_CLIENTS = 6 };

struct request_kind;

struct client {
    int fd; /* -1: it is free */
    const struct request_kind *kind;
    struct buf in;
    bool is_answered;
    bool was_paused;             /* when it asked that it goes on */
    struct budget_change change; /* that it asks for */
    size_t ends;                 /* of trials, when it asked */
    size_t ends_at_most;         /* when it was answered */
    size_t told;                 /* ends that it heard of since */
};

struct clients {
    struct history *history;
    struct client all[MAX_CLIENTS];
    bool is_paused;
    int64_t paused_at_ms, paused_ms;
};

struct request_kind {
    const char *name, *flag; /* flag NULL: none */
    int weights[2]; /* of 100, to the engine of an experiment, a workflow */
    bool stays;     /* the client, to hear of what happens */
    /* NULL: nothing is added. False: it has nothing to ask. */
    bool (*fill)(struct clients *clients, struct client *client,
                 json_t *request);
    /* NULL, each: nothing comes of it. The engine did it; */
    void (*done)(struct clients *clients, struct client *client,
                 const json_t *reply);
    /* said that it did not; */
    void (*refused)(struct clients *clients, struct client *client,
                    const json_t *reply);
    /* or is gone without an answer. */
    void (*lost)(struct clients *clients, struct client *client);
};

/* ---- requests.c ---- */

/* One of all, by their weights. */
const struct request_kind *request_draw(struct rng *rng, bool is_workflow);

/* ---- clients.c ---- */

/* Somebody asks for it, if there is an engine that listens; false: all are
 * busy. */
bool clients_call(struct clients *clients, const struct request_kind *kind);

#endif
