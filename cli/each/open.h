/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_OPEN_H
#define SMTUNE_CLI_EACH_OPEN_H

#include "base/err.h"

struct cli;
struct each_found;
struct each_order;
struct run;
struct store;

/* The run of an order. All is borrowed. */
struct each_opening {
    const struct cli *cli;
    const struct each_order *order;
    const struct each_found *found; /* of each_find() */
    const char *name; /* of a new run; NULL: the order's, numbered where it is
                         taken */
};

/*
 * Opens the run for its engine. A new one gets the file of its lines first. One
 * that was found takes over what the order asks for otherwise, and its lines
 * that failed are put back where `found` has that. NULL on error.
 */
struct run *each_open(const struct each_opening *opening, struct store *store,
                      struct err *err);

#endif
