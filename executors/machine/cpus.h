/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CPUS_H
#define SMTUNE_EXECUTORS_MACHINE_CPUS_H

/*
 * How many CPUs this process may use, at least 1: by its affinity, and by the
 * quotas of its control groups, of which parts of a CPU count as one. `root`
 * is "" for the machine's own files.
 */
int cpus_find(const char *root);

#endif
