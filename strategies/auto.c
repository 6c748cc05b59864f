/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/buf.h"
#include "strategies/lattice.h"
#include "strategies/strategy_impl.h"

/* How many settings there are: 0 when they are without end or not counted,
 * since they are too many for a budget to cover. */
static uint64_t count_settings(struct space *space, uint64_t budget)
{
    uint64_t cardinality = space_cardinality(space);
    struct space_volume volume;

    if (cardinality <= budget)
        return cardinality;
    if (cardinality > SPACE_EXACT_MAX ||
        space_estimate_volume(space, &volume, NULL) < 0)
        return 0;
    return volume.points;
}

static const struct strategy_method *auto_choose(
    struct strategy_options *options, struct space *space, struct buf *reason)
{
    uint64_t budget = options->budget_trials;
    uint64_t settings = count_settings(space, budget);

    if (settings > 0 && settings <= budget) {
        buf_printf(reason,
                   "the budget of %" PRIu64 " trials covers all %" PRIu64
                   " settings",
                   budget, settings);
        options->grid_points = LATTICE_ALL;
        return &strategy_method_grid;
    }
    if (space_cardinality(space) == 0)
        buf_add_string(reason, "there are too many settings to try them all");
    else if (budget == 0)
        buf_add_string(reason, "no number of trials is set that could cover "
                               "all settings");
    else
        buf_printf(reason,
                   "the budget of %" PRIu64 " trials does not cover all "
                   "settings",
                   budget);
    return &strategy_method_sobol;
}

const struct strategy_method strategy_method_auto = {
    .name = "auto",
    .doc = "Grid where the budget covers every setting, else sobol.",
    .choose = auto_choose,
};
