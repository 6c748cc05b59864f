/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For views: a viewer must not change what a resumed engine will find. An empty
 * claim is left alone, because its maker locks it next and would take the
 * viewer's lock for another maker's. Between the end of the last process and
 * the exit file there is a moment in which only the shim lives.
 */
#include "executors/attempt/look.h"

#include <string.h>

#include "executors/machine/process_table.h"

static enum attempt_sight look_at_free(const char *directory, int64_t attempt,
                                       struct attempt_look *look)
{
    const struct claim *claim = &look->claim;
    struct claim here;

    if (claim_is_elsewhere(claim))
        return SIGHT_UNKNOWN;
    claim_identify(&here);
    if (strcmp(claim->boot_id, here.boot_id) != 0)
        return SIGHT_GONE;
    if (process_lives(claim->shim_pid, claim->shim_start) ||
        process_lives(claim->pid, claim->pid_start))
        return SIGHT_RUNS;
    return exit_read(directory, attempt, &look->end) == 1 ? SIGHT_ENDED
                                                          : SIGHT_GONE;
}

static bool is_orphan(const struct claim *claim)
{
    struct claim here;

    claim_identify(&here);
    return strcmp(claim->host, here.host) == 0 &&
           strcmp(claim->boot_id, here.boot_id) == 0 &&
           !process_lives(claim->shim_pid, claim->shim_start);
}

void attempt_look(const char *directory, int64_t attempt,
                  struct attempt_look *look)
{
    int found = exit_read(directory, attempt, &look->end);

    look->sight = SIGHT_UNKNOWN;
    look->is_orphan = false;
    look->claim = (struct claim){.pid = 0};
    if (found == 1)
        look->sight = SIGHT_ENDED;
    if (found != 0)
        return;
    found = claim_read(directory, &look->claim);
    if (found == 0 && !claim_exists(directory))
        look->sight = SIGHT_UNCLAIMED;
    if (found != 1)
        return;
    if (look->claim.pid == 0)
        look->sight = SIGHT_UNCLAIMED;
    else
        look->sight = claim_is_free(directory)
                          ? look_at_free(directory, attempt, look)
                          : SIGHT_RUNS;
    look->is_orphan = look->sight == SIGHT_RUNS && is_orphan(&look->claim);
}
