/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_RUN_AGAIN_H
#define SMTUNE_CLI_DRIVE_RUN_AGAIN_H

#include "base/err.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec.h"

struct cli;

/* Which part of a workflow is to be run again. One of them is NULL. */
struct run_again {
    const char *from; /* a step: it and all that needs it */
    const char *only; /* a step, and no other */
};

/*
 * The --set word that has a new run of the workflow take over the results of
 * its last run, but for what is to be run again; the caller frees it. Steps
 * beside are taken over where they have results. NULL with ERR_NOT_FOUND where
 * there is no such step or run, ERR_USAGE where it is no workflow, ERR_BUSY
 * where a step before has not succeeded there, or is no longer as it was.
 */
char *run_again_plan(const struct cli *cli, const struct spec *spec,
                     const struct run_again *again, struct err *err);

#endif
