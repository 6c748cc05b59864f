/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_WRAP_CONDA_H
#define SMTUNE_ORCHESTRATOR_WRAP_CONDA_H

/*
 * A function of bash, `smtune_activate`, that activates the conda environment
 * $smtune_conda in the shell that calls it, which need not be interactive. It
 * ends with `; `, in one line. Its status is not 0, with a message on standard
 * error, where no program can activate the environment.
 */
extern const char conda_activation[];

#endif
