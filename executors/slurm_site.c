/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm_site.h"

#include <stdlib.h>
#include <string.h>

void slurm_site_clear(struct slurm_site *site)
{
    for (size_t i = 0; i < site->partition_count; i++)
        free(site->partitions[i].name);
    free(site->partitions);
    free(site->version);
    free(site->cluster);
    memset(site, 0, sizeof(*site));
}

const struct slurm_partition *slurm_site_partition(
    const struct slurm_site *site, const char *name)
{
    for (size_t i = 0; i < site->partition_count; i++) {
        const struct slurm_partition *partition = &site->partitions[i];

        if (name == NULL ? partition->is_default
                         : strcmp(partition->name, name) == 0)
            return partition;
    }
    return NULL;
}
