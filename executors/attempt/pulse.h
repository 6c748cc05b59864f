/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_PULSE_H
#define SMTUNE_EXECUTORS_ATTEMPT_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Signs of life across machines, in files of a shared directory, where neither
 * a lock nor a pid says anything. Needs no library but libc, for the shim.
 *
 *     pulse      touched every so often by what runs: its modification time
 *                changes; what it is does not matter, clocks differ
 *     revoked    made by whoever holds it for dead: what runs after all ends at
 *                its next pulse, killed, and writes no `exit` but one with the
 *                cause node_fail
 *     cancelled  made by an engine to which Slurm does not answer: what runs
 *                ends at its next pulse as by SIGTERM
 *     asked      made by an engine before it ends the attempt: whoever comes
 *                later sees that nobody else did
 *     go         made by an engine for what waits until it may begin (a
 *                reserve)
 */

/* Makes or touches `pulse` in the directory; -1 where that cannot be done now.
 */
int pulse_beat(const char *directory, struct err *err);

/* A stamp that differs whenever it was touched meanwhile; 0: there is none, -1:
 * it cannot be seen now. */
int64_t pulse_read(const char *directory);

/* Marks [revoked, cancelled, asked, go]: made, if they are not there; and
 * whether they are. */
int pulse_mark(const char *directory, const char *mark, struct err *err);
bool pulse_is_marked(const char *directory, const char *mark);

#define PULSE_REVOKED   "revoked"
#define PULSE_CANCELLED "cancelled"
#define PULSE_ASKED     "asked"
#define PULSE_GO        "go"

/*
 * One that watches: has `silence_ms` gone by, on its own clock, without a
 * change? All zeroes at first, and silent only after it has been looked at for
 * so long.
 */
struct pulse_watch {
    int64_t stamp;
    int64_t changed_ms; /* clock_monotonic_ms() when that was seen */
};

/* Looks, and returns for how long it has been silent. What cannot be seen
 * counts as seen: it says nothing. */
int64_t pulse_silence_ms(struct pulse_watch *watch, const char *directory,
                         int64_t now_ms);

#endif
