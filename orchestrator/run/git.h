/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_GIT_H
#define SMTUNE_ORCHESTRATOR_RUN_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct git_limits {
    size_t output_bytes;
    int64_t time_ms;
};

/*
 * What git prints in a directory; words (NULL-ended) come behind its own. git
 * must not write or lock anything in the user's repository, and a slow file
 * system must not delay a run: NULL where it fails, or has not ended in time.
 * The caller's to free. *is_cut: it printed more, and this is the beginning;
 * is_cut NULL: then it is NULL, too.
 */
char *git_output(const char *directory, const char *const *words,
                 const struct git_limits *limits, bool *is_cut);

#endif
