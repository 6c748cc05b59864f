/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why jobs wait. Slurm's reason of each is a small file of its attempt: it
 * changes often, and is no part of the record. Of jobs that wait for a person
 * (held, partition down) one is told at a time, and that is taken back when no
 * listing has it so any more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executors/slurm/core.h"

void slurm_flight_waits(struct slurm_flight *flight, const char *reason)
{
    char *line;

    if (strncmp(flight->reason, reason, sizeof(flight->reason) - 1) == 0)
        return;
    snprintf(flight->reason, sizeof(flight->reason), "%s", reason);
    line = mem_printf("%s%s", flight->reason, reason[0] != '\0' ? "\n" : "");
    slurm_file_write(flight->request->spec.directory, "reason", line, NULL);
    free(line);
}

void slurm_held(struct slurm *slurm, const char *what,
                const struct slurm_job *job)
{
    struct slurm_held *held = &slurm->held;
    struct slurm_held_job now = {.job = job->id};

    snprintf(now.text, sizeof(now.text), "slurm holds %s %" PRId64 " back: %s",
             what, job->id, job->reason);
    if (job->id == held->told.job && strcmp(now.text, held->told.text) == 0)
        held->is_seen = true;
    else if (held->other.job == 0)
        held->other = now;
}

bool slurm_held_take(struct slurm_held *held, struct slurm_held_job *now)
{
    bool is_news =
        !held->is_seen && (held->other.job != 0 || held->told.job != 0);

    *now = held->other;
    held->is_seen = false;
    held->other = (struct slurm_held_job){.job = 0};
    return is_news;
}
