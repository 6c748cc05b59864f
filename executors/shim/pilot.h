/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_PILOT_H
#define SMTUNE_EXECUTORS_SHIM_PILOT_H

#include "base/err.h"
#include "executors/shim/options.h"

/*
 * The agent of an allocation (`smtune-shim --pilot DIR`), which engines speak
 * to through files (pilot_spool.h). It packs attempts by what options->cpus,
 * ->gpus and ->memory_bytes say it has, and ends
 *     when its engine has drained it, and nothing runs;
 *     when nothing was to be done for options->idle_ms, or for a moment where
 *     no engine lives;
 *     in good time before options->left_ms are over, or upon SIGTERM: what runs
 *     is ended by SIGTERM and, after its grace period, SIGKILL, and counts as
 *     displaced;
 *     when it is revoked, or can show no sign of life: what runs is killed.
 * In all but the first it says AGENT_DRAIN and takes no more from then on.
 *
 * Returns the status to exit with: 0 also where the pilot's directory is
 * claimed already, as by an allocation that Slurm starts a second time.
 */
int pilot_run(const struct shim_options *options, struct err *err);

#endif
