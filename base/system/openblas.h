/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_OPENBLAS_H
#define SMTUNE_BASE_SYSTEM_OPENBLAS_H

/*
 * The kernels that OpenBLAS should use on this processor, as its variable
 * OPENBLAS_CORETYPE names them; NULL where its own choice is as good. On a
 * processor newer than itself it takes its oldest ones, several times slower
 * than they need be; the variable is read once, when the library is loaded.
 */
const char *openblas_kernels(void);

#endif
