/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of a cluster's limits of time a job has.
 *
 * MaxWall has its order of precedence from "Resource Limits" of Slurm's manual
 * (resource_limits.html#hierarchy): the QOS of the partition, the QOS of the
 * job, then the association. The first that has a limit counts, even if a
 * later one is shorter. OverPartQOS, a flag of the job's QOS, swaps the two QOS
 * ("Partition QOS", qos.html#partition). slurmctld does this in
 * acct_policy_set_qos_order() and _qos_policy_validate() (acct_policy.c).
 * AccountingStorageEnforce has to contain `limits`.
 *
 * MaxTime of the partition is a bound for all of them, unless the job's QOS has
 * the flag PartitionTimeLimit (same pages). With the flag, too, MaxTime is what
 * a job gets that asks for no time, if there is no DefaultTime (slurm.conf).
 *
 * The association of an account is the one for the job's partition, else the
 * one without a partition (assoc_mgr_fill_in_assoc()). Its limit is what Slurm
 * reports for it: its own, or the one of the nearest account above it up to
 * `root`, where the cluster's own limits are. The same is true of its
 * DefaultQOS. A job without a QOS has that one, else the only QOS of the
 * association, else `normal` (assoc_mgr_get_default_qos_info()).
 *
 * The limits of several partitions ("a,b") count for none of them alone, and
 * are left to Slurm. Slurm compares names without regard to case.
 */
#include "executors/slurm/talk/limit.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "executors/slurm/talk/extra.h"

static const char usual_qos[] = "normal";

/* By an option in `extra`, the last word of a job; else by its key, or what is
 * usual; NULL: not at all. */
static const char *named(const struct slurm_ask *ask, const char *key,
                         const char *usual, const char *option, char letter)
{
    const char *name = key != NULL ? key : usual;

    for (size_t i = 0; i < ask->extra_count; i++) {
        const char *value = slurm_extra_value(ask->extra[i], option, letter);

        if (value != NULL && value[0] != '\0')
            name = value;
    }
    return name;
}

/* NULL: there is none such, or no name. */
static const struct slurm_qos *find_qos(const struct slurm_site *site,
                                        const char *name)
{
    for (size_t i = 0; name != NULL && i < site->qos_count; i++) {
        if (strcasecmp(site->qos_list[i].name, name) == 0)
            return &site->qos_list[i];
    }
    return NULL;
}

static const struct slurm_association *find_association(
    const struct slurm_site *site, const char *account, const char *partition)
{
    const struct slurm_association *general = NULL;

    for (size_t i = 0; account != NULL && i < site->association_count; i++) {
        const struct slurm_association *it = &site->associations[i];

        if (strcasecmp(it->account, account) != 0)
            continue;
        if (it->partition == NULL)
            general = it;
        else if (partition != NULL && strcasecmp(it->partition, partition) == 0)
            return it;
    }
    return general;
}

static const struct slurm_qos *qos_of_job(
    const struct slurm_site *site, const char *name,
    const struct slurm_association *association)
{
    if (name == NULL && association != NULL)
        name = association->default_qos;
    return find_qos(site, name != NULL ? name : usual_qos);
}

/* The first one counts. */
static void take(struct slurm_limit *limit, int64_t time_ms,
                 enum slurm_limiter limiter, const char *name)
{
    if (time_ms <= 0 || limit->time_ms > 0)
        return;
    limit->time_ms = time_ms;
    limit->limiter = limiter;
    limit->name = name;
}

static void take_qos(struct slurm_limit *limit, const struct slurm_qos *qos)
{
    if (qos != NULL)
        take(limit, qos->max_time_ms, SLURM_BY_QOS, qos->name);
}

static void take_all(struct slurm_limit *limit, const struct slurm_qos *first,
                     const struct slurm_qos *second,
                     const struct slurm_association *association)
{
    bool is_swapped = second != NULL && second->is_over_partition_qos;

    take_qos(limit, is_swapped ? second : first);
    take_qos(limit, is_swapped ? first : second);
    if (association != NULL)
        take(limit, association->max_time_ms, SLURM_BY_ASSOCIATION,
             association->account);
}

static void take_partition(struct slurm_limit *limit,
                           const struct slurm_partition *place,
                           bool is_without_bound)
{
    int64_t most_ms = place->max_time_ms;
    int64_t usual_ms =
        place->default_time_ms > 0 ? place->default_time_ms : most_ms;

    limit->is_below_default =
        limit->time_ms > 0 && (usual_ms == 0 || usual_ms > limit->time_ms);
    if (most_ms > 0 && !is_without_bound &&
        (limit->time_ms == 0 || most_ms <= limit->time_ms))
        *limit = (struct slurm_limit){.time_ms = most_ms,
                                      .limiter = SLURM_BY_PARTITION,
                                      .name = place->name};
}

struct slurm_limit slurm_limit_of(const struct slurm_site *site,
                                  const struct slurm_ask *ask)
{
    const char *partition =
        named(ask, ask->partition, NULL, "--partition", 'p');
    const char *account =
        named(ask, ask->account, site->account, "--account", 'A');
    const char *qos = named(ask, ask->qos, site->qos, "--qos", 'q');
    const struct slurm_partition *place = slurm_site_partition(site, partition);
    const struct slurm_association *association = find_association(
        site, account, place != NULL ? place->name : partition);
    const struct slurm_qos *own = qos_of_job(site, qos, association);
    struct slurm_limit limit = {.time_ms = 0};

    if (site->enforces_limits)
        take_all(&limit, find_qos(site, place != NULL ? place->qos : NULL), own,
                 association);
    if (place != NULL)
        take_partition(&limit, place,
                       own != NULL && own->is_over_partition_time);
    return limit;
}

const char *slurm_limiter_text(const struct slurm_limit *limit,
                               char text[SLURM_LIMITER_MAX])
{
    static const char *const kinds[] = {[SLURM_BY_PARTITION] = "partition",
                                        [SLURM_BY_QOS] = "QOS",
                                        [SLURM_BY_ASSOCIATION] =
                                            "your association with account"};
    enum { NAME_MAX_BYTES = 100 };

    snprintf(text, SLURM_LIMITER_MAX, "%s '%.*s'", kinds[limit->limiter],
             NAME_MAX_BYTES, limit->name);
    return text;
}
