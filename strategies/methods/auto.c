/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "strategies/space/lattice.h"
#include "strategies/strategy_impl.h"

/*
 * The default. Where the budget covers every setting, that is a grid. Else it
 * is a row of methods, and for each trial the first rule that holds says which
 * one suggests it. The rules look at the space, the budget and the history
 * alone, so that what was chosen follows from the record; all methods read the
 * same history and share the startup sequence that the cursor is the place in,
 * so that one goes on where another stood.
 *
 * The numbers come from tests/bench/regret, problems of set `tune`.
 */

enum {
    FRONT_FROM = 400, /* results */
    HEDGE_EVERY = 3,  /* trials */
    HEDGE_FROM = 12,  /* results */
    QUICK_FROM = 2000 /* results */
};

/* What the rules look at. */
struct facts {
    uint64_t trial;
    size_t results;
    size_t objectives;
};

struct rule {
    const struct strategy_method *method;
    bool (*holds)(const struct facts *facts);
    const char *why;
};

static bool is_long_front(const struct facts *facts)
{
    return facts->objectives > 1 && facts->results >= FRONT_FROM;
}

static bool are_many(const struct facts *facts)
{
    return facts->results >= QUICK_FROM;
}

/* A Gaussian process that is sure of what is not so goes on and on where it
 * is. Points of another mind cost little, and it learns from them as well. */
static bool is_hedge(const struct facts *facts)
{
    return facts->results >= HEDGE_FROM && facts->trial % HEDGE_EVERY == 0;
}

static bool is_any(UNUSED const struct facts *facts)
{
    return true;
}

static const struct rule rules[] = {
    {&strategy_method_nsga2, is_long_front,
     "many results, and several objectives"},
    {&strategy_method_tpe, are_many, "many results: a fast model"},
    {&strategy_method_tpe, is_hedge, "every third trial uses another model"},
    {&strategy_method_bayesian, is_any, "few results: the most precise model"},
};

struct auto_search {
    struct strategy_options options;
    struct space *space;
    void *states[ARRAY_LEN(rules)];
};

/* How many settings there are, at most where they are too many to count; 0:
 * more than the budget in any case. */
static uint64_t count_settings(struct space *space, uint64_t budget)
{
    uint64_t cardinality = space_cardinality(space);
    struct space_volume volume;

    if (cardinality > 0 && cardinality <= SPACE_EXACT_MAX &&
        space_estimate_volume(space, &volume, NULL) == 0)
        return volume.points;
    return cardinality <= budget ? cardinality : 0;
}

static const struct strategy_method *auto_choose(
    struct strategy_options *options, struct space *space, struct buf *reason)
{
    uint64_t budget = options->budget_trials, repeats = options->replicates;
    uint64_t settings = count_settings(space, budget / repeats);

    if (settings > 0 && settings <= budget / repeats) {
        buf_printf(reason,
                   "the budget of %" PRIu64 " trials covers all %" PRIu64
                   " settings",
                   budget, settings);
        if (repeats > 1)
            buf_printf(reason, ", %" PRIu64 " times each", repeats);
        options->grid_points = LATTICE_ALL;
        return &strategy_method_grid;
    }
    if (space_cardinality(space) == 0)
        buf_add_string(reason, "there are too many settings to try them all");
    else if (budget == 0)
        buf_add_string(
            reason,
            "the budget has no number of trials that could cover all settings");
    else
        buf_printf(reason,
                   "the budget of %" PRIu64 " trials does not cover all "
                   "settings",
                   budget);
    buf_add_string(reason,
                   ", so the results so far decide the method of each trial");
    return &strategy_method_auto;
}

static void auto_destroy(void *state)
{
    struct auto_search *search = state;

    if (search == NULL)
        return;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        rules[i].method->destroy(search->states[i]);
    free(search);
}

static void *auto_create(const struct strategy_options *options,
                         struct space *space, UNUSED struct err *err)
{
    struct auto_search *search = mem_zero(sizeof(*search));

    search->options = *options;
    search->space = space;
    return search;
}

static size_t pick(const struct facts *facts)
{
    size_t i = 0;

    while (!rules[i].holds(facts))
        i++;
    return i;
}

static enum ask_result auto_next(void *state, struct ask *ask, struct err *err)
{
    struct auto_search *search = state;
    const struct facts facts = {.trial = ask->trial,
                                .results = ask->history->told_count,
                                .objectives = ask->history->objective_count};
    size_t picked = pick(&facts);
    const struct rule *rule = &rules[picked];
    char note[sizeof(ask->reason->note)];
    enum ask_result result;

    if (search->states[picked] == NULL)
        search->states[picked] =
            rule->method->create(&search->options, search->space, err);
    if (search->states[picked] == NULL)
        return ASK_ERROR;
    ask->reason->method = rule->method->name;
    result = rule->method->next(search->states[picked], ask, err);
    memcpy(note, ask->reason->note, sizeof(note));
    snprintf(ask->reason->note, sizeof(note), "%s%s%.*s", rule->why,
             note[0] != '\0' ? "; " : "",
             (int)(sizeof(note) - strlen(rule->why) - 3), note);
    return result;
}

const struct strategy_method strategy_method_auto = {
    .name = "auto",
    .learns = true,
    .choose = auto_choose,
    .create = auto_create,
    .destroy = auto_destroy,
    .next = auto_next,
};
