/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_RESERVE_H
#define SMTUNE_EXECUTORS_SHIM_RESERVE_H

#include <stdbool.h>

#include "executors/shim/options.h"

/*
 * A reserve is an attempt that is to follow another one should nobody be there
 * to start it: its job begins when that one has ended, and waits here for the
 * engine, which says `go`, or voids the claim. Where the engine shows no sign
 * of life for options->silence_ms, the reserve goes on by itself: after a time
 * limit, or an end that nobody saw.
 */

/* Whether the reserve with this directory is to run. */
bool reserve_await(const struct shim_options *options, const char *directory);

#endif
