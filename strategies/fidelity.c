/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/fidelity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/space/space.h"
#include "strategies/strategy.h"

enum { RESULTS_MIN = 10, RESULTS_EACH = 3 };

struct partial {
    size_t index;
    int level;
};

/* Bit k: level k. */
struct mark {
    uint64_t reached, valued; /* valued: with values that are finite */
};

void fidelity_init(struct fidelity *fidelity, struct space *space,
                   size_t objective_count, size_t outcome_count)
{
    *fidelity =
        (struct fidelity){.level = FIDELITY_FULL, .enough = RESULTS_EACH};
    history_init(&fidelity->full, space, objective_count, outcome_count);
    for (size_t i = 0; i < space_count(space); i++)
        if (space_param(space, i)->kind != PARAM_CONST)
            fidelity->enough += RESULTS_EACH;
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
    free(fidelity->marks);
    free(fidelity->partials);
    free(fidelity->cells);
    *fidelity = (struct fidelity){0};
}

const struct history *fidelity_history(const struct fidelity *fidelity)
{
    return fidelity->level == FIDELITY_FULL ? &fidelity->full
                                            : &fidelity->lower;
}

uint64_t fidelity_resource(const struct fidelity *fidelity)
{
    return fidelity->level == FIDELITY_FULL
               ? 0
               : fidelity->resources[fidelity->level];
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
    return index < fidelity->mark_capacity ? fidelity->marks[index].reached : 0;
}

static struct mark *mark_of(struct fidelity *fidelity, size_t index)
{
    size_t old = fidelity->mark_capacity, capacity = fidelity->full.capacity;

    if (index >= old) {
        fidelity->marks =
            mem_resize(fidelity->marks, capacity, sizeof(*fidelity->marks));
        memset(fidelity->marks + old, 0,
               (capacity - old) * sizeof(*fidelity->marks));
        fidelity->mark_capacity = capacity;
    }
    return &fidelity->marks[index];
}

/* ---- the level in use ---- */

static bool is_void(const struct fidelity *fidelity, size_t index)
{
    unsigned char state = fidelity->full.states[index];

    return state == HISTORY_FAILED || state == HISTORY_CANCELLED;
}

/* Adds a trial's values to the counts, or with change -1 takes them out. */
static void count_values(struct fidelity *fidelity, size_t index, int change)
{
    uint64_t bits = mark_of(fidelity, index)->valued;

    for (; bits != 0; bits &= bits - 1)
        fidelity->counts[__builtin_ctzll(bits)] += (size_t)change;
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

/* What a trial is at a lower level before what was observed there. */
static enum history_state find_state(const struct fidelity *fidelity,
                                     size_t index)
{
    unsigned char state = fidelity->full.states[index];

    if (reached(fidelity, index) >> fidelity->level != 0)
        return HISTORY_ASIDE;
    return state == HISTORY_PENDING || state == HISTORY_BEHIND
               ? (enum history_state)state
               : HISTORY_ASIDE;
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
        history_add(lower, full, i, find_state(fidelity, i));
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

/* ---- calls ---- */

size_t fidelity_ask(struct fidelity *fidelity, uint64_t number,
                    const struct value *point)
{
    size_t index = history_ask(&fidelity->full, number, point);

    if (fidelity->level != FIDELITY_FULL)
        history_add(&fidelity->lower, &fidelity->full, index, HISTORY_PENDING);
    return index;
}

/* Whether nothing is known of the trial at the level. */
static bool is_open(const struct history *history, size_t index)
{
    unsigned char state = history->states[index];

    return state == HISTORY_PENDING || state == HISTORY_ASIDE ||
           state == HISTORY_BEHIND;
}

/* The trial goes no further for now. */
static void halt(struct fidelity *fidelity, size_t index)
{
    history_set(&fidelity->full, index,
                reached(fidelity, index) != 0 ? HISTORY_BEHIND : HISTORY_ASIDE);
}

static void update_lower(struct fidelity *fidelity, size_t index)
{
    if (fidelity->level == FIDELITY_FULL)
        return;
    if (is_void(fidelity, index))
        history_tell(&fidelity->lower, index,
                     (enum history_state)fidelity->full.states[index], NULL,
                     NULL);
    else if (is_open(&fidelity->lower, index))
        history_set(&fidelity->lower, index, find_state(fidelity, index));
}

/* After a trial has come to its end: whether that takes back what was known. */
static bool follow_end(struct fidelity *fidelity, size_t index, bool was_void,
                       bool is_over)
{
    bool takes_back;

    if (is_void(fidelity, index) != was_void)
        count_values(fidelity, index, was_void ? 1 : -1);
    if (change_level(fidelity))
        return true;
    if (is_over) {
        rebuild(fidelity);
        return true;
    }
    takes_back = fidelity->level != FIDELITY_FULL && is_void(fidelity, index) &&
                 !is_open(&fidelity->lower, index);
    update_lower(fidelity, index);
    return takes_back;
}

bool fidelity_tell(struct fidelity *fidelity, size_t index,
                   enum history_state state, const double *values,
                   const double *outcomes)
{
    struct history *full = &fidelity->full;
    bool is_over = !is_open(full, index);
    bool was_void = is_void(fidelity, index);

    if (fidelity->partial_count > 0 && state == HISTORY_STOPPED)
        halt(fidelity, index);
    else
        history_tell(full, index, state, values, outcomes);
    return fidelity->partial_count > 0
               ? follow_end(fidelity, index, was_void, is_over)
               : is_over;
}

static void add_partial(struct fidelity *fidelity, size_t index, int level,
                        const struct partial_result *result)
{
    size_t i = fidelity->partial_count, count = fidelity->full.objective_count;
    size_t outcome_count = fidelity->full.outcome_count;
    uint64_t bit = UINT64_C(1) << level;
    struct mark *mark;
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
    if (fidelity->resources[level] == 0)
        fidelity->resources[level] = result->resource;
    mark = mark_of(fidelity, index);
    mark->reached |= bit;
    if (count_finite(result->values, count) < count)
        return;
    mark->valued |= bit;
    fidelity->counts[level]++;
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
    int level = level_of(result->resource);
    bool has_news = is_news(fidelity, index, level, result);

    if (!is_open(&fidelity->full, index))
        return false;
    if (has_news)
        add_partial(fidelity, index, level, result);
    if (!result->goes_on)
        halt(fidelity, index);
    if (has_news && change_level(fidelity))
        return true;
    if (has_news && level == fidelity->level)
        take_partial(fidelity, fidelity->partial_count - 1);
    else
        update_lower(fidelity, index);
    return false;
}
