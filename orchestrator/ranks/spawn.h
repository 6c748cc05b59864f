/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_SPAWN_H
#define SMTUNE_ORCHESTRATOR_RANKS_SPAWN_H

#include <sched.h>
#include <sys/types.h>

#include "base/err.h"

/* Starting one rank of a group: what lies between its words and its exec. */

struct rank_spec {
    char *const *argv; /* NULL-ended */
    char *const *envp; /* NULL-ended, complete */
    int in_fd, out_fd, err_fd;
    const cpu_set_t *cpus; /* that it may run on; NULL: as this process */
};

/*
 * Starts it in a session of its own, found on this process's PATH. The kernel
 * kills it should this process die. Returns its pid; -1 with ERR_NOT_FOUND
 * when there is no such program, else with ERR_FAILED.
 */
pid_t rank_spawn(const struct rank_spec *spec, struct err *err);

#endif
