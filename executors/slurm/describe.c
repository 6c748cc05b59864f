/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The description of the cluster: partitions, nodes, limits. It is asked for
 * once and kept. A controller that does not answer is asked again, less and
 * less often; until then `has_site` is false and nothing is planned by it.
 * Where the default partition is not reported, pilots show which one it is.
 */
#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "executors/slurm/core.h"

enum { AGAIN_MIN_MS = 1000, AGAIN_MAX_MS = 60000 };

static void copy_site(struct slurm_site *site, const struct slurm_site *from)
{
    slurm_site_clear(site);
    *site = *from;
    site->version = mem_copy_string(from->version);
    site->cluster = mem_copy_string(from->cluster);
    site->partitions =
        mem_array(from->partition_count, sizeof(*site->partitions));
    for (size_t i = 0; i < from->partition_count; i++) {
        site->partitions[i] = from->partitions[i];
        site->partitions[i].name = mem_copy_string(from->partitions[i].name);
    }
}

/* Less and less often, as whatever is asked of a controller that is mute. */
static void ask_again(struct slurm *slurm)
{
    slurm->describe_ms =
        clock_monotonic_ms() +
        backoff_next_ms(&slurm->describe_wait_ms, AGAIN_MIN_MS, AGAIN_MAX_MS);
}

static void on_site(void *user, const struct slurm_reply *reply,
                    const struct slurm_site *site)
{
    struct slurm *slurm = user;

    if (reply->answer != SLURM_DONE) {
        ask_again(slurm);
        return;
    }
    copy_site(&slurm->site, site);
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
