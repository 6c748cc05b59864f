/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CGROUP_PLACE_H
#define SMTUNE_EXECUTORS_MACHINE_CGROUP_PLACE_H

/*
 * Where this process stands in the trees of control groups: version 2 has one
 * tree, version 1 one for each controller, and both may be mounted at once.
 */

/* Those that are of use here. */
enum cgroup_tree {
    CGROUP_UNIFIED, /* version 2 */
    CGROUP_FREEZER, /* version 1, as are the others */
    CGROUP_MEMORY,
    CGROUP_CPU,
    CGROUP_TREES
};

/* The directory of this process's group in each; NULL where there is none. */
struct cgroup_places {
    char *directories[CGROUP_TREES];
};

/* From /proc/self/mountinfo and /proc/self/cgroup below `root`, which is ""
 * for the machine's own files. */
void cgroup_places_find(struct cgroup_places *places, const char *root);
void cgroup_places_clear(struct cgroup_places *places);

#endif
