/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/refusals.h"

#include <string.h>

bool refusals_add(struct refusals *refusals, const struct attempt_spec *spec,
                  uint32_t lacks)
{
    if (lacks == 0 || refusals->count == REFUSALS_MAX)
        return false;
    refusals->list[refusals->count].spec = spec;
    refusals->list[refusals->count++].lacks = lacks;
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

static bool wants_any(const struct attempt_spec *spec,
                      const struct attempt_spec *refused, uint32_t lacks)
{
    if (((lacks & LACKS_CPUS) != 0 && spec->cpus > 0) ||
        ((lacks & LACKS_GPUS) != 0 && spec->gpus > 0))
        return true;
    for (size_t i = 0; i < refused->pool_count; i++) {
        if ((lacks & (uint32_t)LACKS_POOL << i) != 0 &&
            takes_from(spec, refused->pools[i].directory))
            return true;
    }
    return false;
}

bool refusals_hold_back(const struct refusals *refusals,
                        const struct attempt_spec *spec)
{
    for (size_t i = 0; i < refusals->count; i++) {
        if (wants_any(spec, refusals->list[i].spec, refusals->list[i].lacks))
            return true;
    }
    return false;
}
