/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CGROUP_H
#define SMTUNE_EXECUTORS_MACHINE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executors/machine/cgroup_site.h"

/*
 * The control group of one attempt, which has a directory of the same name in
 * each tree that is used for it. Its processes cannot leave it by forking, by
 * a session of their own or by closing files.
 */

struct cgroup {
    const struct cgroup_site *site;
    int64_t attempt;
    bool is_in[CGROUP_TREES];
    bool limits_memory;
};

struct cgroup_limits {
    int64_t memory_bytes; /* swap included; 0: none */
    int cpus;             /* 0: none */
};

/* What the kernel has counted of a group. */
struct cgroup_facts {
    int64_t oom_kills;  /* processes that it killed for lack of memory */
    bool was_at_limit;  /* of the group's own memory */
    int64_t anon_bytes; /* memory that is no file's, now */
};

/* Makes the group of an attempt. False where none can be made; what cannot be
 * limited is not, which limits_memory tells. */
bool cgroup_create(struct cgroup *group, const struct cgroup_site *site,
                   int64_t attempt, const struct cgroup_limits *limits);

/* A descriptor of its directory in the unified tree, the caller's to close, in
 * which processes can be made; -1 where it has none. */
int cgroup_open(const struct cgroup *group);

/* Whether it is in the unified tree and in no other. */
bool cgroup_is_unified(const struct cgroup *group);

/* Puts the calling process there, which has one thread, and forgets of the
 * group what refuses it; not into the unified tree where it was made there.
 * Fit for a child that shares its parent's memory. */
void cgroup_enter(struct cgroup *group, bool is_in_unified);

/* Whether it has any tree left. */
bool cgroup_is_there(const struct cgroup *group);

/* The directory by which all of its processes are found and ended; false when
 * it is too long. */
bool cgroup_directory(const struct cgroup *group, char *directory, size_t size);

void cgroup_look(const struct cgroup *group, struct cgroup_facts *facts);

/* Kills all that is in it. */
void cgroup_kill(const struct cgroup *group);

/* Removes it; false while anything lives in it, which alone keeps it. */
bool cgroup_remove(struct cgroup *group);

#endif
