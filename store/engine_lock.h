/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_ENGINE_LOCK_H
#define SMTUNE_STORE_ENGINE_LOCK_H

#include <stdint.h>

#include "base/err.h"

/*
 * Whether a run has an engine: whoever holds the lock on engine.lock in the
 * run's directory is it. The kernel lets go of the lock when that process
 * ends, however it ends, so a pid in the record never has to be believed.
 */

/* Takes the lock for as long as the descriptor returned is open, and writes
 * this process's pid into the file. -1: ERR_BUSY names the holder, or the user
 * that the run belongs to. */
int engine_lock_take(const char *run_directory, struct err *err);
/* The same for the run of any user: for who removes runs or repairs a store. */
int engine_lock_take_any(const char *run_directory, struct err *err);

/* 1 when somebody holds it (*pid is theirs, 0 when not yet known), 0 when
 * nobody does or the file is not there, -1 when that cannot be told. */
int engine_lock_probe(const char *run_directory, int64_t *pid, struct err *err);

/* 0 where no run of a store has an engine, by the folders of its runs. -1:
 * ERR_BUSY names one that has, with its pid. */
int engine_lock_check_none(const char *store_directory, struct err *err);

/*
 * In a store that a group shares, a run belongs to the user who owns its
 * directory: the processes are that user's, and what they execute is in a
 * record that the group can write. Elsewhere each run is ours.
 */

/* The name of the user where that is another one; NULL: it is ours. The
 * caller's to free. */
char *engine_lock_find_owner(const char *run_directory);
/* 0 for who may send the run's engine requests or signals: its user, or root.
 * Else -1, ERR_BUSY with the user's name, and the engine's pid if there is one.
 */
int engine_lock_check_owner(const char *run_directory, struct err *err);

#endif
