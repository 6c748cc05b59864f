/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/count.h"
#include "base/units.h"
#include "executors/slurm/pilot/pilot_impl.h"

/* An end is heard of, and the next start is there, so long after at most. */
enum { ROUND_TRIP_MS = 250, DEPTH_MAX_PERMILLE = 5000 };

/* -- Lists ----------------------------------------------------------------*/

void pilot_list_add(struct pilot_list *list, struct slurm_flight *flight)
{
    flight->sibling = NULL;
    if (list->first == NULL)
        list->first = flight;
    else
        list->last->sibling = flight;
    list->last = flight;
    list->count++;
}

void pilot_list_add_first(struct pilot_list *list, struct slurm_flight *flight)
{
    flight->sibling = list->first;
    list->first = flight;
    if (list->last == NULL)
        list->last = flight;
    list->count++;
}

void pilot_list_remove(struct pilot_list *list, struct slurm_flight *flight)
{
    struct slurm_flight **link = &list->first, *before = NULL;

    while (*link != flight) {
        before = *link;
        link = &before->sibling;
    }
    *link = flight->sibling;
    if (list->last == flight)
        list->last = before;
    flight->sibling = NULL;
    list->count--;
}

/* -- Room -----------------------------------------------------------------*/

struct pilot_room pilot_room_of(const struct attempt_spec *spec)
{
    return (struct pilot_room){.cpus = spec->cpus > 0 ? spec->cpus : 1,
                               .gpus = spec->gpus,
                               .memory_bytes = spec->memory_bytes};
}

void pilot_room_add(struct pilot_room *room, const struct pilot_room *more)
{
    room->cpus += more->cpus;
    room->gpus += more->gpus;
    room->memory_bytes = count_add(room->memory_bytes, more->memory_bytes);
}

void pilot_room_take(struct pilot_room *room, const struct pilot_room *less)
{
    room->cpus -= less->cpus;
    room->gpus -= less->gpus;
    room->memory_bytes = count_subtract(room->memory_bytes, less->memory_bytes);
}

static bool lacks(int64_t size, int64_t used, int64_t cost,
                  int64_t depth_permille)
{
    if (cost == 0)
        return false;
    return cost > size ||
           count_add(used, cost) >
               count_add(count_times(size / 1000, depth_permille),
                         size % 1000 * depth_permille / 1000);
}

uint32_t pilot_room_lacks(const struct pilot_room *size,
                          const struct pilot_room *used,
                          const struct pilot_room *cost, int64_t depth_permille)
{
    uint32_t result = 0;

    if (lacks(size->cpus, used->cpus, cost->cpus, depth_permille) ||
        lacks(size->memory_bytes, used->memory_bytes, cost->memory_bytes,
              depth_permille))
        result |= LACKS_CPUS;
    if (lacks(size->gpus, used->gpus, cost->gpus, depth_permille))
        result |= LACKS_GPUS;
    return result;
}

static int64_t fewer(int64_t units, int64_t size, int64_t cost)
{
    if (cost > 0 && size / cost < units)
        return size / cost;
    return units;
}

int pilot_room_units(const struct pilot_room *size,
                     const struct pilot_room *cost)
{
    int64_t units = size->cpus / cost->cpus;

    units = fewer(units, size->gpus, cost->gpus);
    return (int)fewer(units, size->memory_bytes, cost->memory_bytes);
}

int64_t pilot_depth_permille(int64_t mean_ms)
{
    int64_t depth =
        1000 + INT64_C(1000) * ROUND_TRIP_MS / (mean_ms > 0 ? mean_ms : 1);

    return depth < DEPTH_MAX_PERMILLE ? depth : DEPTH_MAX_PERMILLE;
}

/* -- Kinds ----------------------------------------------------------------*/

void pilot_kind_of(const struct slurm_ask *ask, struct buf *kind)
{
    static const struct slurm_ask none;
    const struct slurm_ask *its = ask != NULL ? ask : &none;
    const char *const texts[] = {its->partition,   its->account,
                                 its->qos,         its->constraint,
                                 its->reservation, its->gpu_type};
    size_t last = ARRAY_LEN(texts);

    while (last > 0 && texts[last - 1] == NULL)
        last--;
    if (last == 0 && its->extra_count == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        buf_printf(kind, "%s\n", texts[i] != NULL ? texts[i] : "");
    for (size_t i = 0; i < its->extra_count; i++)
        buf_printf(kind, "%s\n", its->extra[i]);
}

bool pilot_is_of_kind(const struct slurm_flight *flight, const char *kind)
{
    struct buf its = BUF_INIT;
    bool is_same;

    pilot_kind_of(flight->request->spec.slurm, &its);
    is_same = strcmp(buf_text(&its), kind) == 0;
    buf_clear(&its);
    return is_same;
}

/* -- Plans ----------------------------------------------------------------*/

/* What one node is taken to have at least: what a single attempt asks for,
 * whatever is known. Of GPUs those of its type: a job that asks for more of
 * them than a node has never starts. */
static struct pilot_room node_of(const struct slurm_options *options,
                                 const struct slurm_partition *partition,
                                 const struct attempt_spec *spec,
                                 const struct pilot_room *cost)
{
    const char *type = spec->slurm != NULL ? spec->slurm->gpu_type : NULL;
    struct pilot_room node = {.cpus = options->pilot_cpus,
                              .gpus = options->pilot_gpus,
                              .memory_bytes = options->pilot_memory_bytes};

    if (partition != NULL) {
        if (node.cpus == 0)
            node.cpus = partition->node_cpus;
        if (node.gpus == 0)
            node.gpus = slurm_partition_gpus(partition, type);
        if (node.memory_bytes == 0)
            node.memory_bytes = partition->node_memory_bytes;
    }
    if (node.cpus < cost->cpus)
        node.cpus = cost->cpus;
    if (node.gpus < cost->gpus)
        node.gpus = cost->gpus;
    if (node.memory_bytes < cost->memory_bytes)
        node.memory_bytes = cost->memory_bytes;
    return node;
}

static void plan_size(struct pilot_plan *plan,
                      const struct slurm_options *options,
                      const struct pilot_room *node,
                      const struct pilot_room *cost, int units)
{
    int fit = pilot_room_units(node, cost);

    if (units > fit)
        units = fit;
    if (units < 1)
        units = 1;
    plan->size =
        (struct pilot_room){.cpus = cost->cpus * units,
                            .gpus = cost->gpus * units,
                            .memory_bytes = cost->memory_bytes * units};
    if (options->pilot_cpus > plan->size.cpus)
        plan->size.cpus = options->pilot_cpus;
    if (options->pilot_gpus > plan->size.gpus)
        plan->size.gpus = options->pilot_gpus;
    if (options->pilot_memory_bytes > plan->size.memory_bytes)
        plan->size.memory_bytes = options->pilot_memory_bytes;
}

static int refuse_time(const struct pilot_wish *wish, int64_t need_ms,
                       struct err *err)
{
    char limit[32], need[32], most[32], limiter[SLURM_LIMITER_MAX];

    units_format_duration(wish->spec->time_ms, limit, sizeof(limit));
    units_format_duration(need_ms, need, sizeof(need));
    units_format_duration(wish->limit.time_ms, most, sizeof(most));
    return err_set(err, ERR_FAILED,
                   "a time limit of %s needs a pilot of %s, and %s allows at "
                   "most %s",
                   limit, need, slurm_limiter_text(&wish->limit, limiter),
                   most);
}

/* As Slurm takes it, which counts minutes. */
static int64_t whole_minutes(int64_t time_ms)
{
    enum { MINUTE_MS = 60000 };

    return count_times(time_ms / MINUTE_MS + (time_ms % MINUTE_MS != 0),
                       MINUTE_MS);
}

/* What those that wait may take, one after the other: never more than a pilot
 * would have that asks for no time, but for a single one of them. */
static int64_t wanted_time(const struct pilot_wish *wish, int64_t need_ms,
                           int64_t usual_ms)
{
    int64_t all_ms = usual_ms;

    if (need_ms > 0 && wish->rounds > 0)
        all_ms = whole_minutes(count_times(need_ms, wish->rounds));
    if (usual_ms > 0 && all_ms > usual_ms)
        all_ms = usual_ms;
    if (all_ms < need_ms && (all_ms > 0 || wish->rounds > 0))
        all_ms = whole_minutes(need_ms);
    return all_ms;
}

static int plan_time(struct pilot_plan *plan, const struct pilot_wish *wish,
                     const struct slurm_options *options,
                     const struct slurm_partition *partition, struct err *err)
{
    const struct attempt_spec *spec = wish->spec;
    int64_t need_ms = slurm_pilot_need_ms(spec), usual_ms = 0;
    int64_t most_ms = wish->limit.time_ms;

    if (most_ms > 0 && need_ms > most_ms)
        return refuse_time(wish, need_ms, err);
    if (partition != NULL)
        usual_ms = partition->default_time_ms > 0 ? partition->default_time_ms
                                                  : partition->max_time_ms;
    plan->time_ms = options->pilot_time_ms;
    if (plan->time_ms == 0)
        plan->time_ms = wanted_time(wish, need_ms, usual_ms);
    else if (plan->time_ms < need_ms)
        plan->time_ms = need_ms;
    if (plan->time_ms == 0 && partition == NULL)
        plan->time_ms = need_ms;
    if (most_ms > 0 &&
        (plan->time_ms > most_ms || (plan->time_ms == 0 && partition != NULL)))
        plan->time_ms = most_ms;
    plan->says_time = plan->time_ms > 0 &&
                      (options->pilot_time_ms > 0 || plan->time_ms != usual_ms);
    return 0;
}

int pilot_plan(struct pilot_plan *plan, const struct pilot_wish *wish,
               const struct slurm_options *options,
               const struct slurm_partition *partition, struct err *err)
{
    struct pilot_room cost = pilot_room_of(wish->spec);
    struct pilot_room node = node_of(options, partition, wish->spec, &cost);

    plan_size(plan, options, &node, &cost, wish->units);
    return plan_time(plan, wish, options, partition, err);
}
