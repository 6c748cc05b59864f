/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/site.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"

void slurm_site_clear(struct slurm_site *site)
{
    for (size_t i = 0; i < site->partition_count; i++)
        free(site->partitions[i].name);
    for (size_t i = 0; i < site->qos_count; i++)
        free(site->qos[i].name);
    free(site->qos);
    free(site->partitions);
    free(site->version);
    buf_clear(&site->nodes);
    free(site->cluster);
    memset(site, 0, sizeof(*site));
}

void slurm_site_copy(struct slurm_site *to, const struct slurm_site *from)
{
    *to = *from;
    to->version = mem_copy_string(from->version);
    to->cluster = mem_copy_string(from->cluster);
    to->nodes = (struct buf)BUF_INIT;
    buf_add_string(&to->nodes, buf_text(&from->nodes));
    to->partitions =
        mem_array(from->partition_count + 1, sizeof(*to->partitions));
    for (size_t i = 0; i < from->partition_count; i++) {
        to->partitions[i] = from->partitions[i];
        to->partitions[i].name = mem_copy_string(from->partitions[i].name);
    }
    to->qos = NULL;
    to->qos_count = 0;
    for (size_t i = 0; i < from->qos_count; i++)
        slurm_site_add_qos(to, from->qos[i].name, from->qos[i].max_time_ms);
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

int64_t slurm_site_time_ms(const struct slurm_site *site, const char *partition,
                           const char *qos)
{
    const struct slurm_partition *place = slurm_site_partition(site, partition);

    int64_t most_ms = place != NULL ? place->max_time_ms : 0;

    for (size_t i = 0; qos != NULL && i < site->qos_count; i++) {
        int64_t its_ms = site->qos[i].max_time_ms;

        if (strcmp(site->qos[i].name, qos) == 0 && its_ms > 0 &&
            (most_ms == 0 || its_ms < most_ms))
            most_ms = its_ms;
    }
    return most_ms;
}

void slurm_site_add_qos(struct slurm_site *site, const char *name,
                        int64_t max_time_ms)
{
    site->qos = mem_resize(site->qos, site->qos_count + 1, sizeof(*site->qos));
    site->qos[site->qos_count++] =
        (struct slurm_qos){mem_copy_string(name), max_time_ms};
}

void slurm_site_set_default(struct slurm_site *site, const char *name)
{
    if (slurm_site_partition(site, NULL) != NULL)
        return;
    for (size_t i = 0; i < site->partition_count; i++) {
        struct slurm_partition *partition = &site->partitions[i];

        partition->is_default = strcmp(partition->name, name) == 0;
    }
}

struct slurm_partition *slurm_site_add(struct slurm_site *site,
                                       const char *name)
{
    struct slurm_partition *partition;

    for (size_t i = 0; i < site->partition_count; i++) {
        if (strcmp(site->partitions[i].name, name) == 0)
            return &site->partitions[i];
    }
    site->partitions = mem_resize(site->partitions, site->partition_count + 1,
                                  sizeof(*site->partitions));
    partition = &site->partitions[site->partition_count++];
    memset(partition, 0, sizeof(*partition));
    partition->name = mem_copy_string(name);
    return partition;
}

void slurm_site_add_nodes(struct slurm_site *site, const char *names)
{
    buf_printf(&site->nodes, "%s%s", site->nodes.length > 0 ? "," : "", names);
}

/* "gpu:a100:4(S:0-1),gpu:2": of all kinds together. */
static int gpus_of(const char *text)
{
    enum { GPUS_MAX = 1024 };
    long gpus = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, ",(");

        if (strncmp(text, "gpu", 3) == 0 && (text[3] == ':' || length == 3)) {
            const char *count = memrchr(text, ':', length);
            long number = count != NULL ? strtol(count + 1, NULL, 10) : 1;

            gpus += number > 0 && number <= GPUS_MAX ? number : 0;
        }
        text += length;
        if (*text == '(')
            text += strcspn(text, ")");
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return gpus <= GPUS_MAX ? (int)gpus : GPUS_MAX;
}

void slurm_partition_add(struct slurm_partition *partition, int nodes, int cpus,
                         int64_t memory_bytes, const char *gres)
{
    int gpus = gpus_of(gres);

    if (partition->nodes == 0 || cpus < partition->node_cpus)
        partition->node_cpus = cpus;
    if (partition->nodes == 0 || memory_bytes < partition->node_memory_bytes)
        partition->node_memory_bytes = memory_bytes;
    if (gpus > partition->node_gpus)
        partition->node_gpus = gpus;
    partition->nodes = count_to_int(count_add(partition->nodes, nodes));
}
