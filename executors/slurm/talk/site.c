/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/site.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"
#include "executors/slurm/talk/gres.h"

static void clear_partition(struct slurm_partition *partition)
{
    for (size_t i = 0; i < partition->gpu_type_count; i++)
        free(partition->gpu_types[i].name);
    free(partition->gpu_types);
    free(partition->name);
    free(partition->qos);
}

void slurm_site_clear(struct slurm_site *site)
{
    for (size_t i = 0; i < site->partition_count; i++)
        clear_partition(&site->partitions[i]);
    for (size_t i = 0; i < site->qos_count; i++)
        free(site->qos_list[i].name);
    for (size_t i = 0; i < site->association_count; i++) {
        free(site->associations[i].account);
        free(site->associations[i].partition);
        free(site->associations[i].default_qos);
    }
    free(site->associations);
    free(site->qos_list);
    free(site->partitions);
    free(site->version);
    buf_clear(&site->nodes);
    free(site->cluster);
    free(site->account);
    free(site->qos);
    memset(site, 0, sizeof(*site));
}

void slurm_site_move(struct slurm_site *to, struct slurm_site *from)
{
    slurm_site_clear(to);
    *to = *from;
    memset(from, 0, sizeof(*from));
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

struct slurm_qos *slurm_site_add_qos(struct slurm_site *site, const char *name)
{
    struct slurm_qos *qos;

    site->qos_list = mem_resize(site->qos_list, site->qos_count + 1,
                                sizeof(*site->qos_list));
    qos = &site->qos_list[site->qos_count++];
    *qos = (struct slurm_qos){.name = mem_copy_string(name)};
    return qos;
}

struct slurm_association *slurm_site_add_association(struct slurm_site *site,
                                                     const char *account)
{
    struct slurm_association *association;

    site->associations =
        mem_resize(site->associations, site->association_count + 1,
                   sizeof(*site->associations));
    association = &site->associations[site->association_count++];
    *association =
        (struct slurm_association){.account = mem_copy_string(account)};
    return association;
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

/* Of the type, NULL: of all together. */
static int gpus_of(const char *list, const char *type)
{
    enum { GPUS_MAX = 1024 };
    struct slurm_gres gres;
    int64_t gpus = 0;

    while (slurm_gres_next(&list, &gres)) {
        if (strcmp(gres.name, "gpu") == 0 && gres.count <= GPUS_MAX &&
            (type == NULL || strcmp(gres.type, type) == 0))
            gpus += gres.count;
    }
    return gpus <= GPUS_MAX ? (int)gpus : GPUS_MAX;
}

static void add_type(struct slurm_partition *partition, const char *type,
                     int gpus)
{
    size_t i = 0;

    while (i < partition->gpu_type_count &&
           strcmp(partition->gpu_types[i].name, type) != 0)
        i++;
    if (i == partition->gpu_type_count) {
        partition->gpu_types = mem_resize(partition->gpu_types, i + 1,
                                          sizeof(*partition->gpu_types));
        partition->gpu_types[i] =
            (struct slurm_gpu_type){.name = mem_copy_string(type)};
        partition->gpu_type_count++;
    }
    if (gpus > partition->gpu_types[i].gpus)
        partition->gpu_types[i].gpus = gpus;
}

void slurm_partition_add(struct slurm_partition *partition, int nodes, int cpus,
                         int64_t memory_bytes, const char *gres)
{
    int gpus = gpus_of(gres, NULL);
    const char *at = gres;
    struct slurm_gres one;

    while (slurm_gres_next(&at, &one)) {
        if (strcmp(one.name, "gpu") == 0 && one.type[0] != '\0')
            add_type(partition, one.type, gpus_of(gres, one.type));
    }
    if (partition->nodes == 0 || cpus < partition->node_cpus)
        partition->node_cpus = cpus;
    if (partition->nodes == 0 || memory_bytes < partition->node_memory_bytes)
        partition->node_memory_bytes = memory_bytes;
    if (gpus > partition->node_gpus)
        partition->node_gpus = gpus;
    partition->nodes = count_to_int(count_add(partition->nodes, nodes));
}

int slurm_partition_gpus(const struct slurm_partition *partition,
                         const char *type)
{
    if (type == NULL)
        return partition->node_gpus;
    for (size_t i = 0; i < partition->gpu_type_count; i++) {
        if (strcmp(partition->gpu_types[i].name, type) == 0)
            return partition->gpu_types[i].gpus;
    }
    return 0;
}
