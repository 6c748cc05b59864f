/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_DESCRIPTORS_H
#define SMTUNE_CLI_TERM_DESCRIPTORS_H

#include "base/err.h"

/*
 * Sees to it that a command with an event loop can have the descriptors without
 * which it does nothing: libuv aborts, or goes on with a broken loop, where it
 * gets none. Raises this process's soft limit where that is what is missing.
 * ERR_FAILED when it cannot have as many.
 */
int descriptors_check(struct err *err);

#endif
