/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SERVE_DASHBOARD_MACHINE_H
#define SMTUNE_CLI_SERVE_DASHBOARD_MACHINE_H

#include "base/err.h"
#include "base/json.h"

struct gpu_meter;
struct store;

/*
 * What this machine has, and how much of it is in use; a new reference:
 *
 *   {"time_ms": since 1970, "host", "cpus", "cpus_online", "load": [of 1, 5, 15
 *    minutes], "cpu_busy_ms", "cpu_all_ms": since it was started, of all CPUs
 *    together, so that two answers say what happened between them,
 *    "memory_bytes", "memory_available_bytes", "disk": {"path",
 *    "size_bytes", "available_bytes"}, "cpu_slots": {"size", "taken"},
 *    "gpus": [{"name", "is_taken"}], those that trials are given,
 *    "gpu_use": [{"index", "model", "load": 0 to 1, "memory_used_bytes",
 *    "memory_bytes"}], all that the driver tells of, "runs": [{"id", "name",
 *    "attempts": that run here now}]}
 */
json_t *machine_to_json(struct store *store, struct gpu_meter *meter,
                        struct err *err);

#endif
