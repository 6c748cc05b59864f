/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_SIGNAL_NAME_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_SIGNAL_NAME_H

#include <stdbool.h>

/* Signals as files and options name them. */

enum { SIGNAL_MAX = 64 };

/* The number of "SEGV", "SIGSEGV", "segv" or "11"; -1 where it is none. */
int signal_find(const char *text);

/* Whether a program can handle it. */
bool signal_can_be_handled(int number);

#endif
