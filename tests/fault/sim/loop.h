/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_LOOP_H
#define SMTUNE_TESTS_FAULT_SIM_LOOP_H

#include "tests/fault/sim/world.h"

/* The substitute of libuv's loop in a world's time: loop.c. */

/* A signal to the engine's process, from outside the loop. */
void loop_signal(struct world *world, int signal);
/* The engine's process is gone, and its loop with it. */
void loop_forget(struct world *world);

#endif
