/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_CLAIM_TRACE_H
#define SMTUNE_EXECUTORS_ATTEMPT_CLAIM_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The traces of an attempt's claim in its processes: each was started with its
 * path in SMTUNE_CLAIM and with the file open, and may have dropped either.
 */

/* Whether the path is that of the claim in the directory. */
bool claim_path_is_in(const char *path, const char *directory);

/* Whether the process has the claim in the directory open, as far as may be
 * seen. */
bool claim_is_open_in(const char *directory, pid_t pid);

#endif
