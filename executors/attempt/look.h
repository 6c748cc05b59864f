/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_LOOK_H
#define SMTUNE_EXECUTORS_ATTEMPT_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "executors/attempt/attempt_file.h"

/* Where an attempt is that no engine follows, as far as its folder shows. */
enum attempt_sight {
    SIGHT_UNKNOWN,   /* it runs elsewhere, or cannot be seen now */
    SIGHT_UNCLAIMED, /* nothing has started its command */
    SIGHT_RUNS,      /* it or a descendant lives, here or elsewhere */
    SIGHT_ENDED,     /* its exit file is there */
    SIGHT_GONE       /* it ran here, and no process and no exit file is left */
};

struct attempt_look {
    enum attempt_sight sight;
    bool is_orphan;     /* it runs here, and nothing will write its exit file */
    struct claim claim; /* pid 0: there is none */
    struct attempt_exit end; /* where it has ended */
};

/*
 * Looks, and changes nothing: unlike claim_judge() it claims nothing for
 * itself, and takes the lock only of a claim whose maker holds it or is gone.
 * `directory` is the attempt's own, absolute.
 */
void attempt_look(const char *directory, int64_t attempt,
                  struct attempt_look *look);

#endif
