/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/startup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/ranking.h"

enum { TRIES = 1000, GUIDES_MAX = 5 };

/* How far apart guides are in some parameter, at least. */
static const double guide_distance = 0.1;

struct startup {
    struct space *space;
    void *sobol;
    bool has_guides;
    size_t guides[GUIDES_MAX]; /* trials of history->transfer, best first */
    size_t guide_count;
};

struct startup *startup_create(const struct strategy_options *options,
                               struct space *space, struct err *err)
{
    struct startup *startup = mem_zero(sizeof(*startup));

    startup->space = space;
    startup->sobol = strategy_method_sobol.create(options, space, err);
    if (startup->sobol == NULL) {
        free(startup);
        return NULL;
    }
    return startup;
}

void startup_destroy(struct startup *startup)
{
    if (startup == NULL)
        return;
    strategy_method_sobol.destroy(startup->sobol);
    free(startup);
}

/* Inactive parameters are as far from active ones as can be. */
static bool are_apart(const double *a, const double *b, size_t dimension)
{
    for (size_t i = 0; i < dimension; i++)
        if (isnan(a[i]) != isnan(b[i]) || fabs(a[i] - b[i]) >= guide_distance)
            return true;
    return false;
}

static void add_guide(struct startup *startup, const struct history *earlier,
                      size_t index)
{
    for (size_t i = 0; i < startup->guide_count; i++)
        if (!are_apart(history_unit(earlier, startup->guides[i]),
                       history_unit(earlier, index), earlier->dimension))
            return;
    startup->guides[startup->guide_count++] = index;
}

static void choose_guides(struct startup *startup,
                          const struct history *earlier)
{
    size_t *order = mem_array(earlier->told_count, sizeof(*order));

    memcpy(order, earlier->told, earlier->told_count * sizeof(*order));
    ranking_sort(earlier, order, earlier->told_count, NULL);
    for (size_t i = 0;
         i < earlier->complete_count && startup->guide_count < GUIDES_MAX; i++)
        add_guide(startup, earlier, order[i]);
    free(order);
    startup->has_guides = true;
}

static bool was_asked(const struct startup *startup,
                      const struct history *history, const struct value *point)
{
    uint64_t hash = space_hash(startup->space, point);
    struct value *other = mem_array(history->dimension, sizeof(*other));
    bool found = false;

    for (size_t i = 0; i < history->count && !found; i++) {
        space_decode(startup->space, history_unit(history, i), other);
        found = space_hash(startup->space, other) == hash;
    }
    free(other);
    return found;
}

/* Whether a guide is left to be tried. Where points may come again, it takes
 * a look at the history to know. */
static bool follow_guide(struct startup *startup, struct ask *ask)
{
    const struct history *earlier = ask->history->transfer;

    if (!startup->has_guides)
        choose_guides(startup, earlier);
    for (size_t i = 0; i < startup->guide_count; i++) {
        space_decode(startup->space, history_unit(earlier, startup->guides[i]),
                     ask->point);
        if (ask_accepts(ask, ask->point) &&
            (ask->given != NULL ||
             !was_asked(startup, ask->history, ask->point)))
            return true;
    }
    return false;
}

enum ask_result startup_next(struct startup *startup, struct ask *ask,
                             struct err *err)
{
    if (ask->history->transfer != NULL && follow_guide(startup, ask)) {
        ask->reason->step = "good in an earlier run";
        return ASK_OK;
    }
    ask->reason->step = "startup";
    for (int i = 0; i < TRIES; i++) {
        enum ask_result result =
            strategy_method_sobol.next(startup->sobol, ask, err);

        if (result != ASK_OK || ask_accepts(ask, ask->point))
            return result;
    }
    return ASK_EXHAUSTED;
}
