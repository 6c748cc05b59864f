/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_LIMIT_H
#define SMTUNE_EXECUTORS_SLURM_TALK_LIMIT_H

#include <stddef.h>

#include "executors/executor.h"
#include "executors/slurm/talk/site.h"

enum slurm_limiter { SLURM_BY_PARTITION, SLURM_BY_QOS, SLURM_BY_ASSOCIATION };

/* The longest time that a job may ask for. */
struct slurm_limit {
    int64_t time_ms; /* 0: no limit, or none that is known */
    /* Which one it is, and its name; of an association that of its account.
     * The site's; NULL: there is no limit. */
    enum slurm_limiter limiter;
    const char *name;
    /* A job that asks for no time gets more, and waits for ever. */
    bool is_below_default;
};

/* Of a job that asks for this, `extra` included. Pure. */
struct slurm_limit slurm_limit_of(const struct slurm_site *site,
                                  const struct slurm_ask *ask);

enum { SLURM_LIMITER_MAX = 160 };

/* The limiter of a limit for people, "QOS 'long'"; returns text. */
const char *slurm_limiter_text(const struct slurm_limit *limit,
                               char text[SLURM_LIMITER_MAX]);

#endif
