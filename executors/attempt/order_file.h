/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_ORDER_FILE_H
#define SMTUNE_EXECUTORS_ATTEMPT_ORDER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "executors/attempt/agent_message.h"

/*
 * What a batch job is to run: the file `order` (0600) in an attempt's
 * directory, an AGENT_START as the agent gets it, so that nothing of a
 * parameter comes near a shell. Its environment holds what the attempt has of
 * its own; what it inherits it has from the node, as the job's set-up left it.
 *
 * An array's task finds the directory of its attempt in a list of them.
 */

/* The variables of `envp` that are not the same in `inherited`, and those of
 * the NULL-ended `names` (NULL: none) in any case; NULL-ended, the list alone
 * is the caller's to free. */
char **order_own_variables(char *const *envp, char *const *inherited,
                           const char *const *names);

/* Writes it by rename, `envp` of the spec being what it has of its own. */
int order_write(const struct attempt_spec *spec, struct err *err);

/* ERR_NOT_FOUND where there is none; ERR_FAILED where it is another version's,
 * or damaged. The caller destroys. */
struct attempt_request *order_read(const char *directory, struct err *err);

/*
 * The environment of a command on a node: the node's own, without what begins
 * with SMTUNE_ or SM_ (an outer trial's), then the order's. PATH is the node's
 * with `programs` in front, CUDA_VISIBLE_DEVICES the node's. NULL-ended; the
 * caller frees it and its strings.
 */
char **order_environment(char *const *own, char *const *node,
                         const char *programs);

#endif
