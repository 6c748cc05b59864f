/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_FIND_H
#define SMTUNE_CLI_EACH_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cli;
struct each_order;

/* What is to become of an order for which there may be a run already. */

enum each_next {
    EACH_ERROR = -1,
    EACH_NEW,      /* a new run */
    EACH_CONTINUE, /* the run that was found */
    EACH_NOTHING   /* the run that was found has succeeded */
};

struct each_request {
    const char *name;   /* of --name; NULL: that of the order */
    bool is_new;        /* --new: another run of the same */
    bool leaves_failed; /* --resume: lines that failed stay so */
};

struct each_found {
    int64_t id;   /* 0: there is none */
    char *name;   /* its name; the caller's to free */
    bool differs; /* in what a run takes over: resources, retries, jobs; or it
                     is from a backup without secrets */
    bool retries; /* lines that failed run again */
};

/*
 * The last run of the same lines, command and folder. ERR_BUSY: it has an
 * engine, or another run has the name. *found is the caller's in every case.
 */
enum each_next each_find(const struct cli *cli, const struct each_order *order,
                         const struct each_request *request,
                         struct each_found *found, struct err *err);

#endif
