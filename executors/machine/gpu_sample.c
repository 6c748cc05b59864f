/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/gpu_sample.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"

enum { FIELDS = 4, FIELD_MAX = 64, MEBIBYTE = 1 << 20, INDEX_MAX = 64 };

/* -1: it is no number, but words. Units behind it do no harm. */
static int64_t read_number(const char *field)
{
    char *end;
    long long number;

    if (!isdigit((unsigned char)field[0]))
        return -1;
    errno = 0;
    number = strtoll(field, &end, 10);
    return errno == 0 && (*end == '\0' || *end == ' ') ? number : -1;
}

bool gpu_sample_read(const char *line, size_t length, struct gpu_sample *sample)
{
    char fields[FIELDS][FIELD_MAX];
    const char *at = line, *end = line + length;

    for (size_t i = 0; i < FIELDS; i++) {
        if (!gpu_field_next(&at, end, fields[i], FIELD_MAX))
            return false;
    }
    *sample = (struct gpu_sample){.index = read_number(fields[0]),
                                  .percent = read_number(fields[2]),
                                  .memory_bytes = read_number(fields[3])};
    if (strncmp(fields[1], "GPU-", 4) == 0)
        snprintf(sample->uuid, sizeof(sample->uuid), "%s", fields[1]);
    if (sample->percent > 100)
        sample->percent = -1;
    if (sample->memory_bytes > 0)
        sample->memory_bytes = count_times(sample->memory_bytes, MEBIBYTE);
    return sample->index >= 0 && sample->index < INDEX_MAX && at == NULL;
}

/* As CUDA reads it: an index, or the beginning of an unique name. */
static bool is_named(const struct gpu *gpu, const struct gpu_sample *sample)
{
    if (isdigit((unsigned char)gpu->name[0]))
        return read_number(gpu->name) == sample->index;
    return strncmp(gpu->name, "GPU-", 4) == 0 &&
           strncmp(gpu->name, sample->uuid, strlen(gpu->name)) == 0;
}

static bool is_visible(const char *visible, const struct gpu_sample *sample)
{
    struct gpu gpus[GPUS_MAX];
    size_t count;

    if (visible == NULL)
        return true;
    count = gpus_parse(visible, gpus);
    for (size_t i = 0; i < count; i++) {
        if (is_named(&gpus[i], sample))
            return true;
    }
    return false;
}

void gpu_tally_add(struct gpu_tally *tally, const char *visible,
                   const struct gpu_sample *sample)
{
    if (sample->index < 0 || sample->index >= INDEX_MAX ||
        !is_visible(visible, sample))
        return;
    tally->seen |= UINT64_C(1) << sample->index;
    if (sample->percent >= 0) {
        tally->samples++;
        tally->percents += sample->percent;
    }
    if (sample->memory_bytes >= 0 &&
        (!tally->has_memory || sample->memory_bytes > tally->memory_bytes))
        tally->memory_bytes = sample->memory_bytes;
    tally->has_memory |= sample->memory_bytes >= 0;
}

int64_t gpu_tally_busy_ms(const struct gpu_tally *tally, int64_t time_ms)
{
    double mean;

    if (tally->samples == 0 || time_ms < 0)
        return -1;
    mean = (double)tally->percents / (double)tally->samples / 100.0;
    return (int64_t)(mean * __builtin_popcountll(tally->seen) *
                         (double)time_ms +
                     0.5);
}
