/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_CAUSES_H
#define SMTUNE_DASHBOARD_CAUSES_H

#include <stdint.h>

#include "base/err.h"

struct causes;
struct store;

/*
 * How the attempts of all runs ended, kept up to date: with a million of them
 * to look at each takes seconds. An attempt that has ended does not change, so
 * that only those are looked at that are new, or went on the last time. Safe
 * from all threads.
 */
struct causes *causes_create(void);
void causes_destroy(struct causes *causes); /* NULL is allowed */

int causes_update(struct causes *causes, struct store *store, struct err *err);

struct cause_sum {
    int64_t run;
    char *cause;
    int64_t attempts;
    int64_t took_ms; /* all of them together */
};

/* Those of a run, by cause. */
void causes_each(struct causes *causes, int64_t run,
                 void (*row)(void *user, const struct cause_sum *sum),
                 void *user);

#endif
