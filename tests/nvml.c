/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands for NVIDIA's libnvidia-ml.so.1 in tests: two GPUs, of which the second
 * does not say its load. FAKE_NVML_FAILS is the function that fails.
 * FAKE_NVML_LOG is a file to which each init and shutdown adds a letter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9
};

struct device {
    const char *name;
    int load_percent; /* below 0: not supported */
    unsigned long long total, used;
};

struct rates {
    unsigned int gpu, memory;
};

struct memory {
    unsigned long long total, free, used;
};

static struct device devices[] = {
    {"NVIDIA <b>H100</b> 80GB HBM3", 42, 80ULL << 30, 20ULL << 30},
    {"NVIDIA A100-SXM4-40GB MIG", -1, 40ULL << 30, 40ULL << 30},
};

static int begun;

static int is_failing(const char *function)
{
    const char *failing = getenv("FAKE_NVML_FAILS");

    return failing != NULL && strcmp(failing, function) == 0;
}

static void tell(const char *letter)
{
    const char *path = getenv("FAKE_NVML_LOG");
    FILE *file = path == NULL ? NULL : fopen(path, "a");

    if (file == NULL)
        return;
    fputs(letter, file);
    fclose(file);
}

#define BEGIN()                                                                \
    if (!begun)                                                                \
        return UNINITIALIZED;                                                  \
    if (is_failing(__func__))                                                  \
    return NOT_SUPPORTED

int nvmlInit_v2(void)
{
    if (is_failing(__func__))
        return DRIVER_NOT_LOADED;
    begun++;
    tell("i");
    return SUCCESS;
}

int nvmlShutdown(void)
{
    BEGIN();
    begun--;
    tell("s");
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
    BEGIN();
    *count = sizeof(devices) / sizeof(devices[0]);
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct device **device)
{
    BEGIN();
    if (index >= sizeof(devices) / sizeof(devices[0]))
        return INVALID_ARGUMENT;
    *device = &devices[index];
    return SUCCESS;
}

int nvmlDeviceGetName(struct device *device, char *name, unsigned int size)
{
    BEGIN();
    if (strlen(device->name) >= size)
        return INSUFFICIENT_SIZE;
    snprintf(name, size, "%s", device->name);
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(struct device *device, struct rates *rates)
{
    BEGIN();
    if (device->load_percent < 0)
        return NOT_SUPPORTED;
    *rates = (struct rates){(unsigned int)device->load_percent, 5};
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory)
{
    BEGIN();
    *memory = (struct memory){device->total, device->total - device->used,
                              device->used};
    return SUCCESS;
}
