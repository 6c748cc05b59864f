/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_TOP_TRIALS_H
#define SMTUNE_CLI_SHOW_TOP_TRIALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/term/table.h"
#include "store/store.h"

/*
 * Appends a table of an experiment's trials of at most `lines` lines, its
 * heading among them: those that run, with what each said last of the
 * objectives, and (with one objective) the best few behind them. Nothing where
 * there is none. 0, or -1.
 */
int top_trials_add(struct store *store, int64_t run, struct table_style style,
                   size_t lines, struct buf *out, struct err *err);

#endif
