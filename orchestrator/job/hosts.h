/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_HOSTS_H
#define SMTUNE_ORCHESTRATOR_JOB_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

/* Which of its step's copies a job is; a trial is {0, 1}. */
struct job_copy {
    int64_t index; /* 0, 1 ... */
    int64_t count;
    bool are_hosts; /* the copies are the hosts of one piece of work */
};

/* SageMaker's resourceconfig.json: {"current_host": "algo-1", "hosts":
 * ["algo-1", ...], "network_interface_name": "lo"}. One host, where the copies
 * are none. */
json_t *hosts_config(const struct job_copy *copy);
/* Whether that is the same for both. */
bool hosts_equal(const struct job_copy *a, const struct job_copy *b);

#endif
