/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/space/lattice.h"
#include "strategies/space/space.h"

/* VALUES_MAX bounds the time that is spent on a space of many parameters, and
 * WORK_MAX, about a second, that of constraints which compare long texts. */
enum {
    SAMPLES = 10000,
    SAMPLES_MAX = 1000000,
    VALUES_MAX = 20000000,
    WORK_MAX = 200000000
};

/* How many positions of the lattice are this point: an inactive parameter has
 * any of its values there. */
static uint64_t multiplicity(const struct space *space,
                             const struct value *point)
{
    uint64_t product = 1;

    for (size_t i = 0; i < space_count(space); i++)
        if (point[i].type == VALUE_NULL)
            product *= param_cardinality(space_param(space, i));
    return product;
}

static int try_all(struct space *space, struct value *point,
                   struct space_volume *volume, struct err *err)
{
    struct lattice *lattice = lattice_create(space, LATTICE_ALL, err);
    const int64_t work_end = space_work(space) + WORK_MAX;
    uint64_t position = 0, next;

    if (lattice == NULL)
        return -1;
    volume->exact = true;
    volume->tried = lattice_size(lattice);
    for (; position < lattice_size(lattice) && volume->exact; position = next) {
        volume->exact = space_work(space) < work_end;
        if (!lattice_at(lattice, position, point, &next))
            continue;
        volume->points++;
        volume->feasible += multiplicity(space, point);
    }
    lattice_destroy(lattice);
    return 0;
}

static void sample(struct space *space, struct value *point,
                   struct space_volume *volume)
{
    size_t count = space_count(space);
    const int64_t work_end = space_work(space) + WORK_MAX;
    double *unit = mem_array(count, sizeof(*unit));
    struct rng rng;

    *volume = (struct space_volume){0};
    rng_init(&rng, 0, 0, 0);
    while (space_work(space) < work_end &&
           (volume->tried < SAMPLES ||
            (volume->tried < SAMPLES_MAX && volume->feasible == 0 &&
             volume->tried * count < VALUES_MAX))) {
        for (size_t i = 0; i < count; i++)
            unit[i] = rng_uniform(&rng);
        space_decode(space, unit, point);
        volume->tried++;
        volume->feasible += space_feasible(space, point);
    }
    free(unit);
}

int space_estimate_volume(struct space *space, struct space_volume *volume,
                          struct err *err)
{
    struct value *point = mem_array(space_count(space), sizeof(*point));
    uint64_t cardinality = space_cardinality(space);
    int result = 0;

    *volume = (struct space_volume){0};
    if (cardinality > 0 && cardinality <= SPACE_EXACT_MAX)
        result = try_all(space, point, volume, err);
    if (result == 0 && !volume->exact)
        sample(space, point, volume);
    free(point);
    if (result < 0)
        return -1;
    volume->fraction = (double)volume->feasible / (double)volume->tried;
    if (volume->feasible > 0)
        return 0;
    return err_set(err, ERR_FILE,
                   "no setting satisfies the constraints: %s %" PRIu64
                   " tried%s",
                   volume->exact ? "all" : "none of", volume->tried,
                   volume->exact ? "" : " at random");
}
