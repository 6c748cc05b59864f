/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of this machine for the dashboard. Times of the CPUs are sums since
 * boot, so that the page computes the load between two answers and no state is
 * kept here. Runs are listed with the attempts that run on this machine, not on
 * nodes of a cluster.
 */
#include "cli/serve/dashboard_machine.h"

#include "base/clock.h"
#include "orchestrator/machine/gpu_meter.h"
#include "orchestrator/machine/use.h"
#include "store/store.h"

static json_t *load_to_json(const double load[3])
{
    return json_pack("[o, o, o]", json_from_real(load[0]),
                     json_from_real(load[1]), json_from_real(load[2]));
}

static json_t *disk_to_json(const struct store *store)
{
    const char *path = store_directory(store);
    int64_t size_bytes, available_bytes;

    if (machine_disk(path, &size_bytes, &available_bytes) != 0)
        return json_null();
    return json_pack("{s:o, s:I, s:I}", "path", json_from_text(path),
                     "size_bytes", (json_int_t)size_bytes, "available_bytes",
                     (json_int_t)available_bytes);
}

static json_t *gpus_to_json(const struct machine_use *use)
{
    json_t *list = json_array();

    for (size_t i = 0; i < use->gpu_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:b}", "name",
                                              json_from_text(use->gpus[i].name),
                                              "is_taken",
                                              (int)use->gpus[i].is_taken));
    return list;
}

static json_t *gpu_use_to_json(struct gpu_meter *meter)
{
    struct gpu_use uses[GPU_USES_MAX];
    size_t count = gpu_meter_read(meter, uses);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list,
            json_pack(
                "{s:I, s:o, s:o, s:o, s:o}", "index", (json_int_t)uses[i].index,
                "model", json_text_unless_empty(uses[i].model), "load",
                json_from_real(uses[i].load), "memory_used_bytes",
                uses[i].memory_bytes == 0
                    ? json_null()
                    : json_integer((json_int_t)uses[i].memory_used_bytes),
                "memory_bytes", json_int_unless(uses[i].memory_bytes, 0)));
    return list;
}

static int add_running(void *user, const struct running_row *row)
{
    if (row->node == NULL)
        json_array_append_new(
            user, json_pack("{s:I, s:o, s:I}", "id", (json_int_t)row->run,
                            "name", json_from_text(row->run_name), "attempts",
                            (json_int_t)row->attempts));
    return 0;
}

json_t *machine_to_json(struct store *store, struct gpu_meter *meter,
                        struct err *err)
{
    json_t *runs = json_array();
    struct machine_use use;

    if (store_each_running(store, add_running, runs, err) != 0) {
        json_decref(runs);
        return NULL;
    }
    machine_use_probe(&use);
    return json_pack(
        "{s:I, s:o, s:i, s:i, s:o, s:I, s:I, s:I, s:I, s:o, s:{s:i, s:I}, s:o, "
        "s:o, s:o}",
        "time_ms", (json_int_t)clock_wall_ms(), "host",
        json_from_text(use.host), "cpus", use.machine.cpus, "cpus_online",
        use.machine.cpus_online, "load", load_to_json(use.load), "cpu_busy_ms",
        (json_int_t)use.cpu_busy_ms, "cpu_all_ms", (json_int_t)use.cpu_all_ms,
        "memory_bytes", (json_int_t)use.machine.memory_bytes,
        "memory_available_bytes",
        (json_int_t)use.machine.memory_available_bytes, "disk",
        disk_to_json(store), "cpu_slots", "size", use.machine.cpus, "taken",
        (json_int_t)use.cpu_slots_taken, "gpus", gpus_to_json(&use), "gpu_use",
        gpu_use_to_json(meter), "runs", runs);
}
