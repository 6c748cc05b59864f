/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "executors/slurm/wave/wave.h"

/*
 * An array is no larger than the cluster has indices for, nor than the limits
 * of an account or a QOS let through, which count each of its tasks and take
 * all or none. What those are nobody is told: an array that is one too many is
 * halved, and with each that is taken the next may be twice as large.
 */

enum { ARRAY_MAX = 1000 }; /* tasks, where the cluster has not said */

size_t waves_array_max(const struct waves *waves)
{
    const struct slurm_site *site = slurm_site(waves->slurm);
    size_t most = site != NULL && site->array_max > 0 ? (size_t)site->array_max
                                                      : ARRAY_MAX;

    return waves->array_limit > 0 && waves->array_limit < most
               ? waves->array_limit
               : most;
}

static void move(struct wave_task *task, struct wave *to)
{
    to->tasks = mem_grow(to->tasks, to->count, &to->capacity,
                         sizeof(struct wave_task *));
    to->tasks[to->count++] = task;
    to->left++;
    task->wave->left--;
    task->wave = to;
}

void wave_split(struct wave *wave)
{
    struct waves *waves = wave->waves;
    size_t most = waves_array_max(waves);
    char name[SLURM_NAME_SIZE];
    struct wave *rest;

    if (!wave->is_array || wave->count <= most)
        return;
    slurm_new_name(waves->slurm, 'a', name);
    rest = wave_create(waves, name, WAVE_READY);
    rest->is_array = true;
    TAILQ_INSERT_HEAD(&waves->ready, rest, queue);
    for (size_t i = most; i < wave->count; i++)
        move(wave->tasks[i], rest);
    wave->count = most;
}

bool wave_halve(struct wave *wave)
{
    if (!wave->is_array || wave->count < 2)
        return false;
    wave->waves->array_limit = wave->count / 2;
    return true;
}

void waves_array_taken(struct waves *waves, size_t count)
{
    if (waves->array_limit > 0 && count >= waves->array_limit)
        waves->array_limit = 2 * count;
}
