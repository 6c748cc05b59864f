/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_WATCHER_H
#define SMTUNE_CLI_DRIVE_WATCHER_H

#include <stdint.h>

#include "base/err.h"

struct cli;
struct engine_status;
struct engine_trial;
struct spec;
struct store;

/*
 * Shows on stderr what an engine says, in this process or another one: a run's
 * progress. Nothing it does waits for the terminal.
 */
struct watcher;

/* What the run has so far is read from the store. It and spec's parts are
 * borrowed. NULL on error. */
struct watcher *watcher_create(const struct cli *cli, const struct spec *spec,
                               const char *name, struct store *store,
                               int64_t run, struct err *err);
/* Takes the progress away; NULL is allowed. */
void watcher_destroy(struct watcher *watcher);

void watcher_trial_ended(struct watcher *watcher,
                         const struct engine_trial *trial,
                         const struct engine_status *status);
void watcher_tick(struct watcher *watcher, const struct engine_status *status);
/* One line for people, above the rest. */
void watcher_message(struct watcher *watcher, const char *text);

#endif
