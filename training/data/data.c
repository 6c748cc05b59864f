/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/data.h"

#include "base/fs.h"
#include "base/rng.h"
#include "training/util/streams.h"

const char *data_path(const struct data_kind *kind, const char *chosen,
                      struct err *err)
{
    if (chosen != NULL)
        return chosen;
    if (fs_exists(kind->default_path))
        return kind->default_path;
    err_set(err, ERR_NOT_FOUND,
            "no such file or folder '%s': install Debian's package %s, or set "
            "--data",
            kind->default_path, kind->package);
    return NULL;
}

void data_shuffle(uint32_t *order, size_t count, uint64_t seed, uint64_t epoch)
{
    struct rng rng;

    rng_init(&rng, seed, epoch, STREAM_ORDER);
    for (size_t i = 0; i < count; i++) {
        /* Fisher and Yates, from the inside out. */
        size_t j = (size_t)rng_below(&rng, i + 1);

        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
}
