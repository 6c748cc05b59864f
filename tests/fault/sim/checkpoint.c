/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"

/* What lies there, if anything does. */
static void read_state(struct site_attempt *attempt)
{
    char *path = fs_join(attempt->checkpoints, "state");
    FILE *file = fopen(path, "re");

    if (file != NULL && fscanf(file, "attempt %" SCNd64 " level %" SCNd64 "\n",
                               &attempt->found, &attempt->level) != 2)
        world_fail("attempt %" PRId64 " finds a checkpoint that is cut short",
                   attempt->id);
    if (file != NULL)
        fclose(file);
    free(path);
}

void checkpoint_take_up(struct site_attempt *attempt,
                        const struct site_attempt *before)
{
    if (attempt->checkpoints == NULL)
        return;
    read_state(attempt);
    attempt->held = attempt->found;
    if (before != NULL && attempt->found != before->held)
        world_fail("attempt %" PRId64 " of trial %" PRId64
                   " goes on from attempt %" PRId64 ", not from %" PRId64,
                   attempt->id, attempt->trial, attempt->found, before->held);
}

void checkpoint_leave(struct site_attempt *attempt, int64_t level)
{
    char *path;
    FILE *file;

    if (attempt->checkpoints == NULL)
        return;
    if (attempt->saves) {
        attempt->held = attempt->id;
        attempt->level = level;
    }
    if (attempt->held == 0)
        return;
    path = fs_join(attempt->checkpoints, "state");
    file = fopen(path, "we");
    if (file == NULL ||
        fprintf(file, "attempt %" PRId64 " level %" PRId64 "\n", attempt->held,
                attempt->level) < 0 ||
        fclose(file) != 0)
        world_fail("attempt %" PRId64 " has nowhere to leave a checkpoint",
                   attempt->id);
    free(path);
}
