/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/backlog.h"

#include <string.h>

#include "executors/machine/gpu_models.h"

bool backlog_add(struct backlog *backlog, const struct attempt_spec *spec,
                 uint32_t lacks)
{
    if (lacks == 0 || backlog->count == BACKLOG_MAX)
        return false;
    backlog->list[backlog->count].spec = spec;
    backlog->list[backlog->count++].lacks = lacks;
    return true;
}

static bool takes_from(const struct attempt_spec *spec, const char *directory)
{
    for (size_t i = 0; i < spec->pool_count; i++) {
        if (strcmp(spec->pools[i].directory, directory) == 0)
            return true;
    }
    return false;
}

/* Whether no GPU is for both: of two sets, or, where these are not known yet,
 * of two types. */
static bool are_apart(const struct attempt_spec *a,
                      const struct attempt_spec *b)
{
    const char *one = a->slurm != NULL ? a->slurm->gpu_type : NULL;
    const char *other = b->slurm != NULL ? b->slurm->gpu_type : NULL;

    if (a->gpu_set != 0 && b->gpu_set != 0)
        return (a->gpu_set & b->gpu_set) == 0;
    return one != NULL && other != NULL && !gpu_model_is(one, other) &&
           !gpu_model_is(other, one);
}

static bool wants_any(const struct attempt_spec *spec,
                      const struct attempt_spec *refused, uint32_t lacks)
{
    if (((lacks & LACKS_CPUS) != 0 && spec->cpus > 0) ||
        ((lacks & LACKS_GPUS) != 0 && spec->gpus > 0 &&
         !are_apart(spec, refused)))
        return true;
    for (size_t i = 0; i < refused->pool_count; i++) {
        if ((lacks & (uint32_t)LACKS_POOL << i) != 0 &&
            takes_from(spec, refused->pools[i].directory))
            return true;
    }
    return false;
}

bool backlog_hold_back(const struct backlog *backlog,
                       const struct attempt_spec *spec)
{
    for (size_t i = 0; i < backlog->count; i++) {
        if (wants_any(spec, backlog->list[i].spec, backlog->list[i].lacks))
            return true;
    }
    return false;
}
