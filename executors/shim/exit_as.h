/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_EXIT_AS_H
#define SMTUNE_EXECUTORS_SHIM_EXIT_AS_H

/* For a process that stands for a command: ends by the signal that ended the
 * command, whose wait status this is, or returns its exit status. */
int exit_as(int status);

#endif
