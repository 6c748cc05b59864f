/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cluster's description in answers of slurmrestd: partitions, nodes,
 * accounting. Fields have moved between versions, so most are looked up in two
 * places. Sums over nodes saturate (slurm_partition_add). Whether the
 * controller enforces limits (AccountingStorageEnforce) is not reported before
 * version 45, so they count wherever there is accounting.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"

enum { MINUTE_MS = 60000 };

static const json_t *either(const json_t *first, const json_t *second)
{
    return first != NULL ? first : second;
}

static bool has_word(const json_t *list, const char *word)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcasecmp(slurm_rest_text(json_array_get(list, i)), word) == 0)
            return true;
    }
    return false;
}

/* What comes before the version that says no state counts as up. */
static bool is_up(const json_t *json)
{
    const json_t *state = either(json_object_get(json, "state"),
                                 slurm_rest_inner(json, "partition", "state"));

    return state == NULL || strcasecmp(slurm_rest_text(state), "UP") == 0 ||
           has_word(state, "UP");
}

static const char *text_or_null(const json_t *json)
{
    const char *text = slurm_rest_text(json);

    return text[0] != '\0' ? text : NULL;
}

/* A text until version 38, then an object. */
static char *qos_of(const json_t *json)
{
    const json_t *qos = json_object_get(json, "qos");

    return mem_copy_string(text_or_null(
        json_is_object(qos) ? json_object_get(qos, "assigned") : qos));
}

static void take_partition(const json_t *json, struct slurm_site *site)
{
    const char *name = slurm_rest_text(json_object_get(json, "name"));
    struct slurm_partition *partition;

    if (name[0] == '\0')
        return;
    partition = slurm_site_add(site, name);
    free(partition->qos);
    partition->qos = qos_of(json);
    partition->is_up = is_up(json);
    partition->is_default = has_word(json_object_get(json, "flags"), "default");
    partition->default_time_ms =
        slurm_rest_time_ms(either(json_object_get(json, "default_time_limit"),
                                  slurm_rest_inner(json, "defaults", "time")),
                           MINUTE_MS);
    partition->max_time_ms =
        slurm_rest_time_ms(either(json_object_get(json, "max_time_limit"),
                                  slurm_rest_inner(json, "maximums", "time")),
                           MINUTE_MS);
}

static void take_meta(const json_t *body, struct slurm_site *site)
{
    const json_t *meta = json_object_get(body, "meta");
    const json_t *slurm =
        either(json_object_get(meta, "slurm"), json_object_get(meta, "Slurm"));

    free(site->version);
    free(site->cluster);
    site->version =
        mem_copy_string(slurm_rest_text(json_object_get(slurm, "release")));
    site->cluster =
        mem_copy_string(slurm_rest_text(json_object_get(slurm, "cluster")));
}

void slurm_rest_read_partitions(const struct fetch_answer *answer,
                                struct slurm_site *site,
                                struct slurm_reply *reply)
{
    int64_t number;
    json_t *body = slurm_rest_judge(answer, NULL, &number, reply);
    const json_t *list = json_object_get(body, "partitions");

    if (reply->answer == SLURM_DONE && !json_is_array(list))
        slurm_rest_set_garbled(reply);
    if (reply->answer == SLURM_DONE) {
        take_meta(body, site);
        for (size_t i = 0; i < json_array_size(list); i++)
            take_partition(json_array_get(list, i), site);
    }
    /* Versions 40 to 44 do not report the default one. */
    if (site->partition_count == 1)
        site->partitions[0].is_default = true;
    json_decref(body);
}

static int on_node(void *user, const char *item, size_t length)
{
    struct slurm_site *site = user;
    json_t *json = json_parse(item, length, NULL);
    const json_t *names = json_object_get(json, "partitions");
    const char *name = slurm_rest_text(json_object_get(json, "name"));

    for (size_t i = 0; i < json_array_size(names); i++)
        slurm_partition_add(
            slurm_site_add(site, slurm_rest_text(json_array_get(names, i))), 1,
            slurm_rest_count(json_object_get(json, "cpus")),
            (int64_t)slurm_rest_count(json_object_get(json, "real_memory"))
                << 20,
            slurm_rest_text(json_object_get(json, "gres")));
    if (name[0] != '\0')
        slurm_site_add_nodes(site, name);
    json_decref(json);
    return json != NULL ? 0 : -1;
}

void slurm_rest_read_nodes(const struct fetch_answer *answer,
                           struct slurm_site *site, struct slurm_reply *reply)
{
    int64_t number;

    json_decref(slurm_rest_judge(
        answer, &(struct slurm_rest_part){"nodes", on_node, site}, &number,
        reply));
}

void slurm_rest_read_clusters(const struct fetch_answer *answer,
                              struct slurm_site *site)
{
    struct slurm_reply reply;
    int64_t number;
    json_t *body = slurm_rest_judge(answer, NULL, &number, &reply);
    const json_t *list = json_object_get(body, "clusters");
    const char *name =
        slurm_rest_text(json_object_get(json_array_get(list, 0), "name"));

    site->has_accounting =
        reply.answer == SLURM_DONE && json_array_size(list) > 0;
    site->enforces_limits = site->has_accounting;
    if (site->has_accounting && site->cluster[0] == '\0' &&
        json_array_size(list) == 1) {
        free(site->cluster);
        site->cluster = mem_copy_string(name);
    }
    json_decref(body);
}

void slurm_rest_read_qos(const struct fetch_answer *answer,
                         struct slurm_site *site)
{
    struct slurm_reply reply;
    int64_t number;
    json_t *body = slurm_rest_judge(answer, NULL, &number, &reply);
    const json_t *list =
        either(json_object_get(body, "qos"), json_object_get(body, "QOS"));

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *qos = json_array_get(list, i);
        const json_t *flags = json_object_get(qos, "flags");
        const json_t *limits = slurm_rest_inner(qos, "limits", "max");
        const json_t *per = slurm_rest_inner(limits, "wall_clock", "per");
        struct slurm_qos *it = slurm_site_add_qos(
            site, slurm_rest_text(json_object_get(qos, "name")));

        it->max_time_ms =
            slurm_rest_time_ms(json_object_get(per, "job"), MINUTE_MS);
        it->is_over_partition_qos = has_word(flags, "OVERRIDE_PARTITION_QOS");
        it->is_over_partition_time = has_word(flags, "PARTITION_TIME_LIMIT");
    }
    json_decref(body);
}

/* DefaultQOS, or the only one that there is. */
static const char *default_qos_of(const json_t *json)
{
    const json_t *all = json_object_get(json, "qos");
    const char *name = text_or_null(slurm_rest_inner(json, "default", "qos"));

    return name == NULL && json_array_size(all) == 1
               ? text_or_null(json_array_get(all, 0))
               : name;
}

static void take_association(const json_t *json, struct slurm_site *site)
{
    const json_t *jobs = slurm_rest_inner(json, "max", "jobs");
    const char *account = slurm_rest_text(json_object_get(json, "account"));
    const json_t *is_default = json_object_get(json, "is_default");
    struct slurm_association *it = slurm_site_add_association(site, account);

    it->partition =
        mem_copy_string(text_or_null(json_object_get(json, "partition")));
    it->default_qos = mem_copy_string(default_qos_of(json));
    it->max_time_ms = slurm_rest_time_ms(
        slurm_rest_inner(jobs, "per", "wall_clock"), MINUTE_MS);
    if (site->account == NULL &&
        (json_is_true(is_default) || slurm_rest_known(is_default) > 0))
        site->account = mem_copy_string(account);
}

/* A slurmrestd of 21.08 reports those of everybody. */
void slurm_rest_read_associations(const struct fetch_answer *answer,
                                  const char *user, struct slurm_site *site)
{
    struct slurm_reply reply;
    int64_t number;
    json_t *body = slurm_rest_judge(answer, NULL, &number, &reply);
    const json_t *list = json_object_get(body, "associations");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *it = json_array_get(list, i);
        const char *cluster = slurm_rest_text(json_object_get(it, "cluster"));

        if (strcasecmp(slurm_rest_text(json_object_get(it, "user")), user) ==
                0 &&
            (site->cluster == NULL || site->cluster[0] == '\0' ||
             strcasecmp(cluster, site->cluster) == 0))
            take_association(it, site);
    }
    json_decref(body);
}
