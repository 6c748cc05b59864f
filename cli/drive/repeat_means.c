/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A setting with more trials precedes one with fewer, then the mean decides.
 * One more trial of the best one therefore leaves it the best, whatever that
 * does to its mean, and any other trial needs to be compared with the best
 * alone.
 */
#include "cli/drive/repeat_means.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct repeat_means {
    int64_t repeats;
    bool maximize;
    struct repeat_mean *settings; /* in the order tried */
    size_t count, capacity;
    size_t best; /* count 0: there is none */
};

struct repeat_means *repeat_means_create(int64_t repeats, bool maximize)
{
    struct repeat_means *means = mem_zero(sizeof(*means));

    means->repeats = repeats;
    means->maximize = maximize;
    return means;
}

void repeat_means_destroy(struct repeat_means *means)
{
    if (means != NULL)
        free(means->settings);
    free(means);
}

static bool precedes(const struct repeat_means *means, size_t a, size_t b)
{
    const struct repeat_mean *left = &means->settings[a];
    const struct repeat_mean *right = &means->settings[b];

    if (left->count != right->count)
        return left->count > right->count;
    if (left->mean < right->mean || left->mean > right->mean)
        return (left->mean < right->mean) != means->maximize;
    return a < b;
}

bool repeat_means_add(struct repeat_means *means, int64_t number, double value)
{
    size_t index = (size_t)((number - 1) / means->repeats);
    struct repeat_mean *setting;

    while (means->count <= index) {
        means->settings = mem_grow(means->settings, means->count,
                                   &means->capacity, sizeof(*means->settings));
        means->settings[means->count++] = (struct repeat_mean){0, 0, 0.0};
    }
    setting = &means->settings[index];
    if (setting->count == 0 || number < setting->first)
        setting->first = number;
    setting->count++;
    setting->mean += (value - setting->mean) / (double)setting->count;
    if (index == means->best || !precedes(means, index, means->best))
        return index == means->best && setting->count == 1;
    means->best = index;
    return true;
}

struct repeat_mean repeat_means_best(const struct repeat_means *means)
{
    return means->count > 0 ? means->settings[means->best]
                            : (struct repeat_mean){0, 0, (double)NAN};
}
