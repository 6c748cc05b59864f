/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/machine/use.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/count.h"
#include "executors/machine/gpus.h"
#include "executors/machine/slots.h"
#include "executors/machine/slots_census.h"

static void read_load(double load[3])
{
    if (getloadavg(load, 3) == 3)
        return;
    for (size_t i = 0; i < 3; i++)
        load[i] = (double)NAN;
}

/* The first line: "cpu  user nice system idle iowait irq softirq steal ...", in
 * ticks; what guests used is in the first two already. */
static void read_ticks(struct machine_use *use)
{
    FILE *file = fopen("/proc/stat", "re");
    int64_t ticks[8] = {0}, all = 0, idle, per_second = sysconf(_SC_CLK_TCK);
    int found = 0;

    if (file == NULL)
        return;
    found = fscanf(file,
                   "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                   " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                   &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4],
                   &ticks[5], &ticks[6], &ticks[7]);
    fclose(file);
    if (found < 4 || per_second <= 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(ticks); i++)
        all = count_add(all, ticks[i]);
    idle = count_add(ticks[3], ticks[4]);
    use->cpu_all_ms = count_times(all, 1000) / per_second;
    use->cpu_busy_ms =
        count_times(count_subtract(all, idle), 1000) / per_second;
}

static bool is_among(const char *name, const struct gpu *gpus, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(gpus[i].name, name) == 0)
            return true;
    return false;
}

static void read_slots(struct machine_use *use)
{
    struct gpu gpus[GPUS_MAX];
    struct slots_census census;
    char directory[SLOTS_PATH_MAX];

    if (slots_directory(directory, NULL) == 0)
        slots_count(directory, &census);
    else
        census = (struct slots_census){0};
    use->cpu_slots_taken = census.cpus_taken;
    use->gpu_count = gpus_find("", getenv("CUDA_VISIBLE_DEVICES"), gpus);
    for (size_t i = 0; i < use->gpu_count; i++) {
        snprintf(use->gpus[i].name, sizeof(use->gpus[i].name), "%.*s",
                 (int)sizeof(use->gpus[i].name) - 1, gpus[i].name);
        use->gpus[i].is_taken =
            is_among(gpus[i].name, census.gpus, census.gpus_taken);
    }
}

void machine_use_probe(struct machine_use *use)
{
    memset(use, 0, sizeof(*use));
    machine_probe(&use->machine);
    gethostname(use->host, sizeof(use->host) - 1);
    read_load(use->load);
    read_ticks(use);
    read_slots(use);
}

int machine_disk(const char *path, int64_t *size_bytes,
                 int64_t *available_bytes)
{
    struct statvfs status;

    if (statvfs(path, &status) != 0)
        return -1;
    *size_bytes =
        count_times(count_of(status.f_blocks), count_of(status.f_frsize));
    *available_bytes =
        count_times(count_of(status.f_bavail), count_of(status.f_frsize));
    return 0;
}
