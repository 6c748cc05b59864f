/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_SHIM_PATH_H
#define SMTUNE_EXECUTORS_ATTEMPT_SHIM_PATH_H

#include "base/err.h"

/* The path of smtune-shim: $SMTUNE_SHIM, or beside this program, or where
 * packages put helpers. The caller's to free; NULL where it is not there. */
char *shim_path(struct err *err);

#endif
