/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_CONTAIN_H
#define SMTUNE_EXECUTORS_SHIM_CONTAIN_H

#include "base/err.h"

/*
 * Runs a command in a container; the words are those of container_print(), "--"
 * and the command. Ends as the command does: with its status, or by its
 * signal. A container that cannot start leaves its reason in the attempt's
 * folder (executors/attempt/setup_failed.h) and is SHIM_NOT_STARTED. With an
 * error: the words are wrong.
 */
int contain_run(char **words, struct err *err);

#endif
