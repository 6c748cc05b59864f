/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Grid search: all points of a lattice in a fixed order. The cursor is the
 * whole state, so a resumed run continues where it was. Points that were
 * enqueued or are known from earlier runs are skipped, so that the grid has
 * each setting once. Points that violate a constraint are skipped, too, but
 * never more than STRATEGY_LOOKS_MAX in a row: a constraint that nothing
 * satisfies must not block the engine.
 */
#include "strategies/space/lattice.h"
#include "strategies/strategy_impl.h"

static void *grid_create(const struct strategy_options *options,
                         struct space *space, struct err *err)
{
    return lattice_create(space, options->grid_points, err);
}

static void grid_destroy(void *state)
{
    lattice_destroy(state);
}

/* The cursor is the position after the last point. */
static enum ask_result grid_next(void *state, struct ask *ask, struct err *err)
{
    const struct lattice *lattice = state;
    bool is_any_feasible = ask->cursor > 0;

    for (int looks = 0; ask->cursor < lattice_size(lattice); looks++) {
        if (looks == STRATEGY_LOOKS_MAX) {
            err_set(err, ERR_FILE,
                    "%d points of the grid in a row violate the constraints or "
                    "were tried before",
                    STRATEGY_LOOKS_MAX);
            return ASK_ERROR;
        }
        if (!lattice_at(lattice, ask->cursor, ask->point, &ask->cursor))
            continue;
        if (ask_accepts(ask, ask->point))
            return ASK_OK;
        is_any_feasible = true;
    }
    if (is_any_feasible)
        return ASK_EXHAUSTED;
    err_set(err, ERR_FILE, "no point of the grid satisfies the constraints");
    return ASK_ERROR;
}

const struct strategy_method strategy_method_grid = {
    .name = "grid",
    .enumerates = true,
    .create = grid_create,
    .destroy = grid_destroy,
    .next = grid_next,
};
