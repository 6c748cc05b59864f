/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_ATTEMPT_TOTALS_H
#define SMTUNE_STORE_ATTEMPT_TOTALS_H

#include <stdint.h>

/*
 * What a job's attempts come to together, and the last of those that began.
 * The job's own row has the start of the last one alone. Embedded.
 */
struct attempt_totals {
    int64_t count;
    int64_t first_started_ms; /* 0: none has begun */
    int64_t ran_ms;           /* of those that have ended */
    int64_t used;             /* of its schedule's resource */
    int64_t reached;          /* of it, counted from the start; 0: none */
    int64_t last_started_ms;  /* 0: none has begun */
    int64_t last_ran_ms;      /* -1: none has begun, or it has not ended */
    int64_t last_used;
};

/* What `ATTEMPT_TOTALS_CELLS` selects of the table attempt. */
#define ATTEMPT_TOTALS_CELLS                                                   \
    "started_ms, ended_ms, resource_from, resource_used"

struct sqlite3_stmt;

void attempt_totals_init(struct attempt_totals *totals);
/* The next attempt, by number; its cells begin at `first` in the row. */
void attempt_totals_add(struct attempt_totals *totals, struct sqlite3_stmt *row,
                        int first);

#endif
