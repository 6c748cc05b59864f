/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/fidelity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/space.h"
#include "strategies/strategy.h"

enum { RESULTS_MIN = 10, RESULTS_MORE = 3 };

struct partial {
    size_t index;
    int level;
};

void fidelity_init(struct fidelity *fidelity, struct space *space,
                   size_t objective_count, size_t outcome_count)
{
    *fidelity =
        (struct fidelity){.level = FIDELITY_FULL, .enough = RESULTS_MORE};
    history_init(&fidelity->full, space, objective_count, outcome_count);
    for (size_t i = 0; i < space_count(space); i++)
        fidelity->enough += space_param(space, i)->kind != PARAM_CONST;
    if (fidelity->enough < RESULTS_MIN)
        fidelity->enough = RESULTS_MIN;
}

/* The earlier runs' results belong to the full one. */
static void clear_lower(struct fidelity *fidelity)
{
    fidelity->lower.transfer = NULL;
    history_clear(&fidelity->lower);
}

void fidelity_clear(struct fidelity *fidelity)
{
    clear_lower(fidelity);
    history_clear(&fidelity->full);
    free(fidelity->reached);
    free(fidelity->partials);
    free(fidelity->cells);
    *fidelity = (struct fidelity){0};
}

const struct history *fidelity_history(const struct fidelity *fidelity)
{
    return fidelity->level == FIDELITY_FULL ? &fidelity->full
                                            : &fidelity->lower;
}

/* ---- what was observed ---- */

static size_t width(const struct fidelity *fidelity)
{
    return fidelity->full.objective_count + fidelity->full.outcome_count;
}

static const double *cells_of(const struct fidelity *fidelity, size_t partial)
{
    return fidelity->cells + partial * width(fidelity);
}

static size_t count_finite(const double *values, size_t count)
{
    size_t finite = 0;

    for (size_t i = 0; i < count; i++)
        finite += isfinite(values[i]) != 0;
    return finite;
}

static uint64_t reached(const struct fidelity *fidelity, size_t index)
{
    return index < fidelity->reached_capacity ? fidelity->reached[index] : 0;
}

static void set_reached(struct fidelity *fidelity, size_t index, int level)
{
    size_t old = fidelity->reached_capacity;
    size_t capacity = fidelity->full.capacity;

    if (index >= old) {
        fidelity->reached =
            mem_resize(fidelity->reached, capacity, sizeof(uint64_t));
        memset(fidelity->reached + old, 0, (capacity - old) * sizeof(uint64_t));
        fidelity->reached_capacity = capacity;
    }
    fidelity->reached[index] |= UINT64_C(1) << level;
}

/* ---- the level in use ---- */

static bool is_void(const struct fidelity *fidelity, size_t index)
{
    unsigned char state = fidelity->full.states[index];

    return state == HISTORY_FAILED || state == HISTORY_CANCELLED;
}

static void count_partial(struct fidelity *fidelity, size_t i)
{
    size_t count = fidelity->full.objective_count;
    const struct partial *partial = &fidelity->partials[i];

    if (!is_void(fidelity, partial->index) &&
        count_finite(cells_of(fidelity, i), count) == count)
        fidelity->counts[partial->level]++;
}

static int choose_level(const struct fidelity *fidelity)
{
    size_t most = fidelity->full.complete_count;
    int chosen = FIDELITY_FULL;

    for (int level = FIDELITY_FULL - 1; level >= 0; level--) {
        if (most >= fidelity->enough)
            break;
        if (fidelity->counts[level] <= most)
            continue;
        most = fidelity->counts[level];
        chosen = level;
    }
    return chosen;
}

static void take_partial(struct fidelity *fidelity, size_t i)
{
    const double *cells = cells_of(fidelity, i);

    history_tell(&fidelity->lower, fidelity->partials[i].index,
                 HISTORY_COMPLETE, cells,
                 cells + fidelity->full.objective_count);
}

/* The history at a lower level. */
static void rebuild(struct fidelity *fidelity)
{
    const struct history *full = &fidelity->full;
    struct history *lower = &fidelity->lower;

    clear_lower(fidelity);
    if (fidelity->level == FIDELITY_FULL)
        return;
    history_init(lower, full->space, full->objective_count,
                 full->outcome_count);
    lower->transfer = full->transfer;
    for (size_t i = 0; i < full->count; i++)
        history_add(lower, full, i,
                    full->states[i] == HISTORY_PENDING &&
                        reached(fidelity, i) >> fidelity->level == 0);
    for (size_t i = 0; i < full->told_count; i++)
        if (is_void(fidelity, full->told[i]))
            history_tell(lower, full->told[i],
                         (enum history_state)full->states[full->told[i]], NULL,
                         NULL);
    for (size_t i = 0; i < fidelity->partial_count; i++)
        if (fidelity->partials[i].level == fidelity->level &&
            !is_void(fidelity, fidelity->partials[i].index))
            take_partial(fidelity, i);
}

/* Whether another level is in use from now on. */
static bool change_level(struct fidelity *fidelity)
{
    int level = choose_level(fidelity);

    if (level == fidelity->level)
        return false;
    fidelity->level = level;
    rebuild(fidelity);
    return true;
}

/* After a trial has come to another end, which may say otherwise of what was
 * observed of it. */
static void start_over(struct fidelity *fidelity)
{
    memset(fidelity->counts, 0, sizeof(fidelity->counts));
    for (size_t i = 0; i < fidelity->partial_count; i++)
        count_partial(fidelity, i);
    fidelity->level = choose_level(fidelity);
    rebuild(fidelity);
}

/* ---- calls ---- */

size_t fidelity_ask(struct fidelity *fidelity, uint64_t number,
                    const struct value *point)
{
    size_t index = history_ask(&fidelity->full, number, point);

    if (fidelity->level != FIDELITY_FULL)
        history_add(&fidelity->lower, &fidelity->full, index, true);
    return index;
}

static void set_aside_if_pending(struct history *history, size_t index)
{
    if (history->states[index] == HISTORY_PENDING)
        history_set_aside(history, index);
}

bool fidelity_tell(struct fidelity *fidelity, size_t index,
                   enum history_state state, const double *values,
                   const double *outcomes)
{
    struct history *full = &fidelity->full;
    bool is_over = full->states[index] != HISTORY_PENDING &&
                   full->states[index] != HISTORY_ASIDE;

    if (fidelity->partial_count > 0 && state == HISTORY_STOPPED)
        history_set_aside(full, index);
    else
        history_tell(full, index, state, values, outcomes);
    if (fidelity->partial_count == 0)
        return is_over;
    if (is_over ||
        (is_void(fidelity, index) && reached(fidelity, index) != 0)) {
        start_over(fidelity);
        return true;
    }
    if (fidelity->level != FIDELITY_FULL && is_void(fidelity, index))
        history_tell(&fidelity->lower, index,
                     (enum history_state)full->states[index], NULL, NULL);
    else if (fidelity->level != FIDELITY_FULL)
        set_aside_if_pending(&fidelity->lower, index);
    return change_level(fidelity);
}

static void add_partial(struct fidelity *fidelity, size_t index, int level,
                        const struct partial_result *result)
{
    size_t i = fidelity->partial_count, count = fidelity->full.objective_count;
    size_t outcome_count = fidelity->full.outcome_count;
    double *cells;

    fidelity->partials =
        mem_grow(fidelity->partials, i, &fidelity->partial_capacity,
                 sizeof(*fidelity->partials));
    fidelity->cells = mem_grow(fidelity->cells, i, &fidelity->cell_capacity,
                               width(fidelity) * sizeof(*fidelity->cells));
    fidelity->partials[i] = (struct partial){.index = index, .level = level};
    cells = fidelity->cells + i * width(fidelity);
    memcpy(cells, result->values, count * sizeof(*cells));
    for (size_t k = 0; k < outcome_count; k++)
        cells[count + k] =
            result->outcomes != NULL ? result->outcomes[k] : (double)NAN;
    fidelity->partial_count++;
    count_partial(fidelity, i);
    set_reached(fidelity, index, level);
}

/* The largest k with 2^k <= resource. */
static int level_of(uint64_t resource)
{
    return 63 - __builtin_clzll(resource | 1);
}

static bool is_news(const struct fidelity *fidelity, size_t index, int level,
                    const struct partial_result *result)
{
    size_t count = fidelity->full.objective_count;
    size_t finite = count_finite(result->values, count);

    return (finite == 0 || finite == count) &&
           reached(fidelity, index) >> level == 0;
}

bool fidelity_observe(struct fidelity *fidelity, size_t index,
                      const struct partial_result *result)
{
    struct history *full = &fidelity->full, *lower = &fidelity->lower;
    int level = level_of(result->resource);

    if (full->states[index] != HISTORY_PENDING &&
        full->states[index] != HISTORY_ASIDE)
        return false;
    if (!result->goes_on)
        set_aside_if_pending(full, index);
    if (fidelity->level != FIDELITY_FULL &&
        (!result->goes_on || level >= fidelity->level))
        set_aside_if_pending(lower, index);
    if (!is_news(fidelity, index, level, result))
        return false;
    add_partial(fidelity, index, level, result);
    if (change_level(fidelity))
        return true;
    if (level == fidelity->level)
        take_partial(fidelity, fidelity->partial_count - 1);
    return false;
}
