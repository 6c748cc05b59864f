/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_ORIGIN_H
#define SMTUNE_ORCHESTRATOR_RUN_ORIGIN_H

#include "base/err.h"

struct run;

/*
 * With what an engine goes on with a run, into the record (event "origin"),
 * committed, unless the last engine had the same. Before the engine starts.
 * revision: of its code (revision.h), or NULL.
 *
 *   {"host", "smtune": its version, "system", "command": as a shell reads it,
 *    "environment": {NAME: value}, "diff": of the code against its commit, or
 *    null, "is_cut": the environment or the diff is not whole}
 *
 * Secrets are masked before they are written.
 */
int origin_record(struct run *run, const char *revision, struct err *err);

#endif
