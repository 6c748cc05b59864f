/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_OPS_BLAS_H
#define SMTUNE_TRAINING_OPS_BLAS_H

/*
 * OpenBLAS chooses its kernels once, when it is loaded, and on a processor
 * that is newer than itself takes its oldest ones, several times slower than
 * they need be. Nothing but the environment at that time can change it: where
 * that happened, this starts the program again (in the same process) with a
 * better choice in OPENBLAS_CORETYPE. Returns where all is well, where the
 * user has set that variable, and where the start fails.
 */
void blas_choose_kernels(char **argv);

#endif
