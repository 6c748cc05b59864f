/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/machine/gpu_meter.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"

/* As nvml.h of NVIDIA's "NVML API Reference Guide" declares them; the library
 * keeps functions and structs of these names as they are. */

enum { NVML_SUCCESS = 0 };

struct nvml_device; /* *nvmlDevice_t */

struct nvml_utilization {
    unsigned int gpu, memory; /* percent of the time */
};

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

/* X(name, symbol, parameters): each gives an nvmlReturn_t. */
#define NVML_FUNCTIONS(X)                                                      \
    X(init, nvmlInit_v2, (void))                                               \
    X(shutdown, nvmlShutdown, (void))                                          \
    X(get_count, nvmlDeviceGetCount_v2, (unsigned int *count))                 \
    X(get_device, nvmlDeviceGetHandleByIndex_v2,                               \
      (unsigned int index, struct nvml_device **device))                       \
    X(get_name, nvmlDeviceGetName,                                             \
      (struct nvml_device * device, char *name, unsigned int size))            \
    X(get_utilization, nvmlDeviceGetUtilizationRates,                          \
      (struct nvml_device * device, struct nvml_utilization * rates))          \
    X(get_memory, nvmlDeviceGetMemoryInfo,                                     \
      (struct nvml_device * device, struct nvml_memory * memory))

struct gpu_meter {
    pthread_mutex_t lock; /* of what is below */
    bool is_tried;        /* to load the library */
    void *library;        /* NULL: there is none, or no driver */
#define X(name, symbol, parameters) int(*name) parameters;
    NVML_FUNCTIONS(X)
#undef X
};

struct gpu_meter *gpu_meter_create(void)
{
    struct gpu_meter *meter = mem_zero(sizeof(*meter));

    pthread_mutex_init(&meter->lock, NULL);
    return meter;
}

static bool find_functions(struct gpu_meter *meter)
{
#define X(name, symbol, parameters)                                            \
    *(void **)&meter->name = dlsym(meter->library, #symbol);                   \
    if (meter->name == NULL)                                                   \
        return false;
    NVML_FUNCTIONS(X)
#undef X
    return true;
}

static void load(struct gpu_meter *meter)
{
    meter->is_tried = true;
    meter->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (meter->library == NULL ||
        (find_functions(meter) && meter->init() == NVML_SUCCESS))
        return;
    dlclose(meter->library);
    meter->library = NULL;
}

void gpu_meter_destroy(struct gpu_meter *meter)
{
    if (meter == NULL)
        return;
    if (meter->library != NULL) {
        meter->shutdown();
        dlclose(meter->library);
    }
    pthread_mutex_destroy(&meter->lock);
    free(meter);
}

static void read_one(const struct gpu_meter *meter, struct gpu_use *use)
{
    struct nvml_device *device;
    struct nvml_utilization rates;
    struct nvml_memory memory;

    if (meter->get_device((unsigned int)use->index, &device) != NVML_SUCCESS)
        return;
    if (meter->get_name(device, use->model, sizeof(use->model)) != NVML_SUCCESS)
        use->model[0] = '\0';
    if (meter->get_utilization(device, &rates) == NVML_SUCCESS)
        use->load = rates.gpu / 100.0;
    if (meter->get_memory(device, &memory) == NVML_SUCCESS) {
        use->memory_used_bytes = count_of(memory.used);
        use->memory_bytes = count_of(memory.total);
    }
}

static size_t read_all(const struct gpu_meter *meter,
                       struct gpu_use uses[GPU_USES_MAX])
{
    unsigned int count = 0;

    if (meter->get_count(&count) != NVML_SUCCESS)
        return 0;
    if (count > GPU_USES_MAX)
        count = GPU_USES_MAX;
    for (size_t i = 0; i < count; i++) {
        uses[i] = (struct gpu_use){.index = i, .load = (double)NAN};
        read_one(meter, &uses[i]);
    }
    return count;
}

size_t gpu_meter_read(struct gpu_meter *meter,
                      struct gpu_use uses[GPU_USES_MAX])
{
    size_t count = 0;

    pthread_mutex_lock(&meter->lock);
    if (!meter->is_tried)
        load(meter);
    if (meter->library != NULL)
        count = read_all(meter, uses);
    pthread_mutex_unlock(&meter->lock);
    return count;
}
