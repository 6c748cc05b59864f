/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_SALVAGE_H
#define SMTUNE_STORE_REPAIR_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A database whose pages are damaged: what can be read of it goes into a new
 * file. The old one is kept as it was, under another name.
 */

/* Whether the database of a store's directory is sound as a file. -1 when that
 * cannot be told: it is locked, or not there. */
int store_is_sound(const char *directory, bool *is_sound, struct err *err);

struct salvage {
    int64_t rows;          /* that were saved */
    int64_t gaps;          /* places where some could not be read */
    bool events_have_gaps; /* so that they do not tell all any more */
};

/*
 * Nobody may be an engine of the store's. `kept` is the new name of the old
 * file. -1 when nothing can be read, or the new file not be written: then all
 * is as it was.
 */
int store_salvage(const char *directory, const char *kept,
                  struct salvage *salvage, struct err *err);

#endif
