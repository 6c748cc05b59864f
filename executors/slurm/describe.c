/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The description of the cluster: partitions, nodes, limits. It is asked for
 * once and kept. A controller that does not answer is asked again, less and
 * less often; until then `has_site` is false and nothing is planned by it. A
 * run that no controller has ever answered is for the wrong one, or for none:
 * it fails soon. The file `reached` tells such a run from one that was.
 * Where the default partition is not reported, pilots show which one it is.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fs.h"
#include "executors/slurm/core.h"

enum {
    AGAIN_MIN_MS = 1000,
    AGAIN_MAX_MS = 60000,
    UNREACHED_MS = 40000 /* without any answer, before the first */
};

/* Less and less often, as whatever is asked of a controller that is mute. */
static void ask_again(struct slurm *slurm)
{
    slurm->describe_ms =
        clock_monotonic_ms() +
        backoff_next_ms(&slurm->describe_wait_ms, AGAIN_MIN_MS, AGAIN_MAX_MS);
}

/* By any answer: a limit of requests is one. */
static void note_reached(struct slurm *slurm)
{
    slurm->is_reached = true;
    slurm_file_write(slurm->names.folder, "reached", "", NULL);
}

static void on_site(void *user, const struct slurm_reply *reply,
                    struct slurm_site *site)
{
    struct slurm *slurm = user;

    if (reply->answer != SLURM_DONE) {
        if (reply->answer == SLURM_LATER)
            note_reached(slurm);
        snprintf(slurm->silence, sizeof(slurm->silence), "%s", reply->text);
        ask_again(slurm);
        return;
    }
    slurm_site_move(&slurm->site, site);
    buf_clear(&slurm->site.nodes); /* no job asks for them by name */
    slurm->has_site = true;
}

void slurm_learn_default(struct slurm *slurm, const struct slurm_job *job)
{
    if (slurm->has_site)
        slurm_site_set_default(&slurm->site, job->partition);
}

void slurm_describe(struct slurm *slurm)
{
    slurm->describe_ms = 0;
    slurm->transport->type->describe(slurm->transport, on_site, slurm);
}

static bool was_reached(const struct slurm *slurm)
{
    char *path = fs_join(slurm->names.folder, "reached");
    bool is_there = fs_exists(path);

    free(path);
    return is_there;
}

bool slurm_is_unreached(struct slurm *slurm, int64_t now_ms, struct err *err)
{
    if (slurm->is_reached)
        return false;
    if (slurm->has_site || slurm->watch.heard_ms != 0) {
        note_reached(slurm);
        return false;
    }
    if (now_ms - slurm->opened_ms < UNREACHED_MS)
        return false;
    slurm->is_reached = true;
    if (was_reached(slurm))
        return false;
    err_set(err, ERR_FAILED, "cannot reach slurm for %d s: %s",
            UNREACHED_MS / 1000,
            slurm->silence[0] != '\0' ? slurm->silence : "no answer");
    return true;
}
