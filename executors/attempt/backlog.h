/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_BACKLOG_H
#define SMTUNE_EXECUTORS_ATTEMPT_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executors/executor.h"

/*
 * Which attempts of a queue may start although others before them were refused:
 * those that take nothing of which an earlier one had too little; GPUs of two
 * types are two things. Of what it
 * once lacked it is kept, until it starts, that nobody behind it takes any; so
 * the first of a queue gets it all in the end, however much the others want.
 */

enum { BACKLOG_MAX = 16 };

/* Of one walk along the queue, first to last; all zeroes at first. */
struct backlog {
    struct {
        const struct attempt_spec *spec; /* borrowed */
        uint32_t lacks;
    } list[BACKLOG_MAX];
    size_t count;
};

/* An attempt was refused; lacks is all that it has lacked since it came.
 * Returns whether any other may be tried. */
bool backlog_add(struct backlog *backlog, const struct attempt_spec *spec,
                 uint32_t lacks);
/* Whether an attempt behind those has to wait for them. */
bool backlog_hold_back(const struct backlog *backlog,
                       const struct attempt_spec *spec);

#endif
