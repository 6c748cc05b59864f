/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/machine/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "base/system/process_hold.h"
#include "executors/machine/cgroup_site.h"
#include "executors/machine/cpus.h"
#include "executors/machine/gpus.h"
#include "executors/machine/slots.h"

/* "MemAvailable:   123 kB" */
static int64_t memory_line_bytes(const char *name)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    int64_t bytes = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0)
            bytes = count_times(strtoll(line + strlen(name), NULL, 10), 1024);
    }
    fclose(file);
    return bytes;
}

void machine_probe(struct machine *machine)
{
    struct gpu gpus[GPUS_MAX];

    memset(machine, 0, sizeof(*machine));
    machine->cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    machine->cpus = cpus_find("");
    machine->gpus = (int)gpus_find("", getenv("CUDA_VISIBLE_DEVICES"), gpus);
    machine->memory_bytes = memory_line_bytes("MemTotal:");
    machine->memory_available_bytes = memory_line_bytes("MemAvailable:");
}

bool machine_describe_cgroups(struct buf *out)
{
    struct cgroup_site site;
    bool limits;

    cgroup_site_probe(&site, "");
    cgroup_site_describe(&site, out);
    limits = site.memory != CGROUP_TREES && site.cpu != CGROUP_TREES;
    cgroup_site_clear(&site);
    return limits;
}

int machine_slots_directory(char *path, size_t size, struct err *err)
{
    char directory[SLOTS_PATH_MAX];

    if (slots_directory(directory, err) < 0)
        return -1;
    snprintf(path, size, "%s", directory);
    return 0;
}

bool machine_has_descriptors(void)
{
    struct process_hold self = {.fd = -1};
    bool has = process_hold(&self, getpid()) == 0 && self.fd >= 0;

    process_hold_release(&self);
    return has;
}
