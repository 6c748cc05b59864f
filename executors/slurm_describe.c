/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/mem.h"
#include "executors/slurm_core.h"

enum { AGAIN_MS = 30000 };

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

static void on_site(void *user, const struct slurm_reply *reply,
                    const struct slurm_site *site)
{
    struct slurm *slurm = user;

    if (reply->answer != SLURM_DONE) {
        slurm->describe_ms = clock_monotonic_ms() + AGAIN_MS;
        return;
    }
    copy_site(&slurm->site, site);
    slurm->has_site = true;
}

void slurm_describe(struct slurm *slurm)
{
    slurm->describe_ms = 0;
    slurm->transport->type->describe(slurm->transport, on_site, slurm);
}
