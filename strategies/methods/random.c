/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random search. Candidate n depends on the seed and n alone. The order in
 * which trials end cannot change it, and a replay draws the same points. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/strategy_impl.h"

struct random_search {
    struct space *space;
    uint64_t seed;
    double *unit; /* [space_count] */
};

static void *random_create(const struct strategy_options *options,
                           struct space *space, UNUSED struct err *err)
{
    struct random_search *search = mem_zero(sizeof(*search));

    search->space = space;
    search->seed = options->seed;
    search->unit = mem_array(space_count(space), sizeof(*search->unit));
    return search;
}

static void random_destroy(void *state)
{
    struct random_search *search = state;

    if (search == NULL)
        return;
    free(search->unit);
    free(search);
}

/* The cursor is the candidate's number. */
static enum ask_result random_next(void *state, struct ask *ask,
                                   UNUSED struct err *err)
{
    struct random_search *search = state;
    struct rng rng;

    rng_init(&rng, search->seed, ask->cursor++, STREAM_POINT);
    for (size_t i = 0; i < space_count(search->space); i++)
        search->unit[i] = rng_uniform(&rng);
    space_decode(search->space, search->unit, ask->point);
    return ASK_OK;
}

const struct strategy_method strategy_method_random = {
    .name = "random",
    .create = random_create,
    .destroy = random_destroy,
    .next = random_next,
};
