/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CGROUP_SITE_H
#define SMTUNE_EXECUTORS_MACHINE_CGROUP_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "executors/machine/cgroup_place.h"

/*
 * Where the groups of attempts are made: below the group of this process, as
 * far as it may write there, which needs root or a delegated group
 * (`systemd-run --user --scope -p Delegate=yes`). Each is named after the
 * process that made it and the attempt, smtune-PID-START-ATTEMPT, so that
 * whoever comes later can tell whether its maker still lives.
 */

enum { CGROUP_NAME_MAX = 80 };

struct cgroup_site {
    char *bases[CGROUP_TREES]; /* NULL where no group can be made */
    enum cgroup_tree memory;   /* whose groups limit it; CGROUP_TREES: none */
    enum cgroup_tree cpu;
    char prefix[CGROUP_NAME_MAX]; /* of the names of this process's groups */
};

/* Looks without changing anything: what cgroup_site_open() would come to. */
void cgroup_site_probe(struct cgroup_site *site, const char *root);

/*
 * Prepares to make groups, and removes those that dead processes have left.
 * Version 2 lets a group have either processes or groups with controllers: so
 * this process, and `partner` unless 0, go into a group of their own if they
 * are alone where they are, and no controllers are used otherwise. Returns
 * whether any group can be made.
 */
bool cgroup_site_open(struct cgroup_site *site, const char *root,
                      pid_t partner);

/* Whether the directory's name is that of an attempt's group that the process
 * with this pid and start time made. */
bool cgroup_is_named_for(const char *directory, int64_t pid, uint64_t start,
                         int64_t attempt);

/* Removes what dead processes have left, once more, and clears it. */
void cgroup_site_close(struct cgroup_site *site);

void cgroup_site_clear(struct cgroup_site *site);

/* "version 2 (kill), version 1 (memory, CPU)", or "none". */
void cgroup_site_describe(const struct cgroup_site *site, struct buf *out);

#endif
