/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/attempt_totals.h"

#include <sqlite3.h>

enum { STARTED, ENDED, FROM, USED };

void attempt_totals_init(struct attempt_totals *totals)
{
    *totals = (struct attempt_totals){.last_ran_ms = -1};
}

void attempt_totals_add(struct attempt_totals *totals, sqlite3_stmt *row,
                        int first)
{
    int64_t started_ms = sqlite3_column_int64(row, first + STARTED);
    int64_t ended_ms = sqlite3_column_int64(row, first + ENDED);
    int64_t used = sqlite3_column_int64(row, first + USED);
    int64_t reached = sqlite3_column_int64(row, first + FROM) + used;

    totals->count++;
    totals->used += used;
    if (used > 0 && reached > totals->reached)
        totals->reached = reached;
    if (started_ms == 0)
        return;
    if (totals->first_started_ms == 0)
        totals->first_started_ms = started_ms;
    totals->last_started_ms = started_ms;
    totals->last_used = used;
    totals->last_ran_ms = -1;
    if (ended_ms == 0)
        return;
    /* The clock may have been set back. */
    totals->last_ran_ms = ended_ms > started_ms ? ended_ms - started_ms : 0;
    totals->ran_ms += totals->last_ran_ms;
}
