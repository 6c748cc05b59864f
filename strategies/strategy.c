/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/strategy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "strategies/fidelity.h"
#include "strategies/history/enqueued.h"
#include "strategies/history/history.h"
#include "strategies/space/hash_set.h"
#include "strategies/space/lattice.h"
#include "strategies/strategy_impl.h"

/*
 * The wrapper around every method. It keeps the cursor and the set of points
 * that were given out, which follow from the record: so strategy_restore needs
 * nothing else; and for methods that learn, the history.
 *
 * When a method's candidates are all infeasible or old for long, a finite
 * space is walked from a random place on: either a point is found that way,
 * or all are used up and a new pass begins. A pass begins where a point comes
 * again when none is left, so that the record need not say it. A point that
 * comes again earlier was enqueued or chosen by a schedule: it is no reason to
 * forget the others. Where a space is not finite and yet nothing new is found,
 * points may come again, and nothing is forgotten either.
 */

enum { FINITE_TRIES = 1000, ENDLESS_TRIES = 1000000, ENQUEUE_TRIES = 100 };

/* A point whose result may be reused, by trial number. */
struct reusable {
    uint64_t hash;
    bool is_complete;
};

struct strategy {
    const struct strategy_method *method;
    void *state;
    struct strategy_options options;
    struct space *space;
    struct lattice *lattice; /* of a finite space, else NULL */
    struct hash_set given;   /* in this pass */
    uint64_t cursor;
    struct fidelity fidelity; /* where the method learns */
    struct value *base;       /* [space_count]: the point being replicated */
    struct value *enqueued;   /* [enqueued_count][space_count] */
    size_t enqueued_count, enqueued_capacity;
    struct enqueued wishes;
    struct reusable *reusable; /* [reusable_count], trial 1 first */
    size_t reusable_count, reusable_capacity;
    struct buf reason;
};

static const struct strategy_method *const methods[] = {
#define X(name) &strategy_method_##name,
    STRATEGY_METHODS(X)
#undef X
};

static const char *const method_names[] = {
#define X(name) #name,
    STRATEGY_METHODS(X)
#undef X
        NULL};

static const struct strategy_method *find_method(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i];
    return NULL;
}

const char *const *strategy_method_names(void)
{
    return method_names;
}

struct strategy *strategy_create(const struct strategy_options *options,
                                 struct space *space, struct err *err)
{
    struct strategy_options fit = *options;
    const struct strategy_method *method = find_method(options->method);
    struct strategy *strategy;

    gsl_set_error_handler_off(); /* else it aborts the program */
    if (method == NULL) {
        text_unknown("search method", options->method, method_names,
                     ARRAY_LEN(methods), ERR_FILE, err);
        return NULL;
    }
    if (fit.duplicates != DUPLICATES_REPLICATE || fit.replicates == 0)
        fit.replicates = 1;
    strategy = mem_zero(sizeof(*strategy));
    if (method->choose != NULL)
        method = method->choose(&fit, space, &strategy->reason);
    else
        buf_add_string(&strategy->reason, "selected by name");
    strategy->method = method;
    if (fit.objective_count == 0)
        fit.objective_count = 1;
    strategy->options = fit;
    strategy->space = space;
    strategy->base = mem_array(space_count(space), sizeof(*strategy->base));
    fidelity_init(&strategy->fidelity, space, fit.objective_count,
                  fit.outcome_count);
    if (space_cardinality(space) > 0)
        strategy->lattice = lattice_create(space, LATTICE_ALL, NULL);
    strategy->state = method->create(&fit, space, err);
    if (strategy->state == NULL) {
        strategy_destroy(strategy);
        return NULL;
    }
    return strategy;
}

void strategy_destroy(struct strategy *strategy)
{
    if (strategy == NULL)
        return;
    strategy->method->destroy(strategy->state);
    lattice_destroy(strategy->lattice);
    hash_set_clear(&strategy->given);
    fidelity_clear(&strategy->fidelity);
    buf_clear(&strategy->reason);
    free(strategy->base);
    free(strategy->enqueued);
    enqueued_clear(&strategy->wishes);
    free(strategy->reusable);
    free(strategy);
}

const char *strategy_method(const struct strategy *strategy)
{
    return strategy->method->name;
}

const char *strategy_reason(const struct strategy *strategy)
{
    return buf_text(&strategy->reason);
}

bool strategy_learns(const struct strategy *strategy)
{
    return strategy->method->learns;
}

const struct history *strategy_history(const struct strategy *strategy)
{
    return strategy->method->learns ? fidelity_history(&strategy->fidelity)
                                    : NULL;
}

/* Independent points of the trial's own, till one is accepted. step: why. */
static enum ask_result draw_random(struct strategy *strategy, struct ask *ask,
                                   int tries, const char *step)
{
    size_t count = space_count(strategy->space);
    double *unit = mem_array(count, sizeof(*unit));
    enum ask_result result = ASK_EXHAUSTED;
    struct rng rng;

    rng_init(&rng, strategy->options.seed, ask->trial, STREAM_FALLBACK);
    for (int i = 0; i < tries && result == ASK_EXHAUSTED; i++) {
        for (size_t k = 0; k < count; k++)
            unit[k] = rng_uniform(&rng);
        space_decode(strategy->space, unit, ask->point);
        if (ask_accepts(ask, ask->point))
            result = ASK_OK;
    }
    if (result == ASK_OK)
        *ask->reason = (struct reason){
            .method = "random",
            .step = step,
            .acquisition = (double)NAN,
            .mean = (double)NAN,
            .deviation = (double)NAN,
        };
    free(unit);
    return result;
}

static bool is_random_turn(const struct strategy *strategy, uint64_t trial)
{
    struct rng rng;

    rng_init(&rng, strategy->options.seed, trial, STREAM_TURN);
    return strategy->method->learns &&
           rng_uniform(&rng) < strategy->options.random_fraction;
}

/* Of a model of what trials had reached on their way. */
static void add_resource(const struct strategy *strategy, struct reason *reason)
{
    uint64_t resource = fidelity_resource(&strategy->fidelity);
    size_t length = strlen(reason->note);

    if (resource > 0 && reason->step != NULL &&
        strcmp(reason->step, "startup") != 0)
        snprintf(reason->note + length, sizeof(reason->note) - length,
                 "%sas of resource %" PRIu64, length > 0 ? "; " : "", resource);
}

/* ASK_EXHAUSTED: no candidate was both feasible and new. */
static enum ask_result try_candidates(struct strategy *strategy,
                                      struct ask *ask, struct err *err)
{
    const struct strategy_method *method = strategy->method;
    int tries = strategy->lattice != NULL ? FINITE_TRIES : ENDLESS_TRIES;
    enum ask_result result;

    if (is_random_turn(strategy, ask->trial))
        return draw_random(strategy, ask, tries,
                           "drawn at random, without the model");
    if (method->learns) {
        result = method->next(strategy->state, ask, err);
        if (result == ASK_OK && !ask_accepts(ask, ask->point))
            result = ASK_EXHAUSTED;
        add_resource(strategy, ask->reason);
        return result == ASK_EXHAUSTED
                   ? draw_random(strategy, ask, tries,
                                 "drawn at random: the suggestion was not new "
                                 "or not feasible")
                   : result;
    }
    for (int i = 0; i < tries; i++) {
        result = method->next(strategy->state, ask, err);
        if (result != ASK_OK || ask_accepts(ask, ask->point))
            return result;
    }
    return ASK_EXHAUSTED;
}

/* Positions from..to of the finite space, in order. */
static enum ask_result scan(struct strategy *strategy, struct ask *ask,
                            uint64_t from, uint64_t to, struct err *err)
{
    uint64_t position = from, next, looks = 0;

    for (; position < to; position = next) {
        if (lattice_at(strategy->lattice, position, ask->point, &next) &&
            ask_accepts(ask, ask->point))
            return ASK_OK;
        if (++looks == STRATEGY_LOOKS_MAX) {
            err_set(
                err, ERR_FAILED,
                "no new setting among %d in a row satisfies the constraints",
                STRATEGY_LOOKS_MAX);
            return ASK_ERROR;
        }
    }
    return ASK_EXHAUSTED;
}

static enum ask_result scan_all(struct strategy *strategy, struct ask *ask,
                                struct err *err)
{
    uint64_t size = lattice_size(strategy->lattice);
    enum ask_result result;
    struct rng rng;
    uint64_t start;

    rng_init(&rng, strategy->options.seed, ask->trial, STREAM_SCAN);
    start = rng_below(&rng, size);
    result = scan(strategy, ask, start, size, err);
    if (result == ASK_EXHAUSTED)
        result = scan(strategy, ask, 0, start, err);
    return result;
}

static enum ask_result draw(struct strategy *strategy, struct ask *ask,
                            struct err *err)
{
    enum ask_result result = try_candidates(strategy, ask, err);

    if (result == ASK_EXHAUSTED && strategy->lattice != NULL)
        result = scan_all(strategy, ask, err);
    if (result != ASK_EXHAUSTED)
        return result;
    if (ask->given != NULL && strategy->given.count > 0) {
        if (strategy->lattice != NULL) /* a new pass */
            hash_set_clear(&strategy->given);
        else
            ask->given = NULL;
        return draw(strategy, ask, err);
    }
    if (strategy->lattice != NULL)
        err_set(err, ERR_FILE, "no setting satisfies the constraints");
    else
        err_set(err, ERR_FILE,
                "no setting satisfies the constraints in %d tries",
                ENDLESS_TRIES);
    return ASK_ERROR;
}

bool strategy_has_enqueued(const struct strategy *strategy,
                           const struct value *point)
{
    size_t count = space_count(strategy->space);
    uint64_t hash = space_hash(strategy->space, point);

    for (size_t i = 0; i < strategy->enqueued_count; i++)
        if (space_hash(strategy->space, strategy->enqueued + i * count) == hash)
            return true;
    return false;
}

/* What is left out follows from the trial that it is for. It is drawn anew
 * where that makes a setting that is enqueued already. */
int strategy_enqueue(struct strategy *strategy, const struct value *values,
                     struct err *err)
{
    size_t count = space_count(strategy->space);
    uint64_t trial =
        strategy->enqueued_count * strategy->options.replicates + 1;
    struct value *point;
    struct rng rng;
    int tries = ENQUEUE_TRIES;

    strategy->enqueued =
        mem_grow(strategy->enqueued, strategy->enqueued_count,
                 &strategy->enqueued_capacity, count * sizeof(*values));
    point = strategy->enqueued + strategy->enqueued_count * count;
    rng_init(&rng, strategy->options.seed, trial, STREAM_FALLBACK);
    do
        if (space_complete(strategy->space, &rng, values, point, err) != 0)
            return -1;
    while (--tries > 0 && strategy_has_enqueued(strategy, point));
    strategy->enqueued_count++;
    return 0;
}

/* Which one of the settings the trial tries: with replicates, several do. */
static uint64_t setting_index(const struct strategy *strategy, uint64_t trial)
{
    return (trial - 1) / strategy->options.replicates;
}

static void take_enqueued(const struct strategy *strategy, struct ask *ask)
{
    size_t count = space_count(strategy->space);

    memcpy(ask->point,
           strategy->enqueued + setting_index(strategy, ask->trial) * count,
           count * sizeof(*ask->point));
    ask->reason->method = "enqueue";
    ask->reason->step = "enqueued in the file";
}

int strategy_wish(struct strategy *strategy, uint64_t id,
                  const struct value *values, struct err *err)
{
    struct value *point =
        mem_array(space_count(strategy->space), sizeof(*point));
    struct rng rng;

    rng_init(&rng, strategy->options.seed, id, STREAM_WISH);
    if (space_complete(strategy->space, &rng, values, point, err) != 0) {
        free(point);
        return -1;
    }
    enqueued_add_take(&strategy->wishes, id, point);
    return 0;
}

size_t strategy_wish_count(const struct strategy *strategy)
{
    return strategy->wishes.count;
}

uint64_t strategy_promised(const struct strategy *strategy, uint64_t trials)
{
    uint64_t replicates = strategy->options.replicates;
    uint64_t settings = (trials + replicates - 1) / replicates;

    if (settings < strategy->enqueued_count)
        settings = strategy->enqueued_count;
    return (settings + strategy->wishes.count) * replicates;
}

static bool is_replicate(const struct strategy *strategy, uint64_t trial)
{
    return (trial - 1) % strategy->options.replicates != 0;
}

/* *wish: the id of the one that it fulfils. */
static enum ask_result choose_point(struct strategy *strategy, struct ask *ask,
                                    uint64_t *wish, struct err *err)
{
    if (is_replicate(strategy, ask->trial)) {
        memcpy(ask->point, strategy->base,
               space_count(strategy->space) * sizeof(*ask->point));
        ask->reason->step = "evaluated again, to measure the noise";
        return ASK_OK;
    }
    if (setting_index(strategy, ask->trial) < strategy->enqueued_count) {
        take_enqueued(strategy, ask);
        return ASK_OK;
    }
    if (strategy->wishes.count > 0) {
        *wish = enqueued_fulfil(&strategy->wishes, ask->point,
                                space_count(strategy->space));
        ask->reason->method = "enqueue";
        ask->reason->step = "enqueued during the run";
        return ASK_OK;
    }
    if (strategy->method->enumerates)
        return strategy->method->next(strategy->state, ask, err);
    return draw(strategy, ask, err);
}

static uint64_t find_reusable(const struct strategy *strategy, uint64_t hash)
{
    for (size_t i = 0; i < strategy->reusable_count; i++)
        if (strategy->reusable[i].hash == hash &&
            strategy->reusable[i].is_complete)
            return i + 1;
    return 0;
}

enum ask_result strategy_ask(struct strategy *strategy, uint64_t trial,
                             struct value *point, struct suggestion *suggestion,
                             struct err *err)
{
    bool reuses = strategy->options.duplicates == DUPLICATES_REUSE;
    struct suggestion mine = {
        .reason = {.method = strategy->method->name,
                   .acquisition = (double)NAN,
                   .mean = (double)NAN,
                   .deviation = (double)NAN},
        .told = fidelity_history(&strategy->fidelity)->told_count,
    };
    struct ask ask = {
        .trial = trial,
        .history = strategy_history(strategy),
        .given = reuses ? NULL : &strategy->given,
        .space = strategy->space,
        .cursor = strategy->cursor,
        .point = point,
        .reason = &mine.reason,
    };
    enum ask_result result = choose_point(strategy, &ask, &mine.wish, err);

    if (result == ASK_OK) {
        if (reuses)
            mine.same_as =
                find_reusable(strategy, space_hash(strategy->space, point));
        strategy_restore(strategy, trial, point, ask.cursor);
    }
    if (result != ASK_ERROR) /* which comes up again when asked again */
        strategy->cursor = ask.cursor;
    mine.cursor = ask.cursor;
    if (suggestion != NULL)
        *suggestion = mine;
    return result;
}

/* Whether every point of a finite space was given in this pass. */
static bool is_used_up(struct strategy *strategy)
{
    struct ask ask = {
        .given = &strategy->given,
        .space = strategy->space,
        .point = mem_array(space_count(strategy->space), sizeof(*ask.point)),
    };
    bool is_used_up = strategy->lattice != NULL &&
                      scan(strategy, &ask, 0, lattice_size(strategy->lattice),
                           NULL) == ASK_EXHAUSTED;

    free(ask.point);
    return is_used_up;
}

static void remember_given(struct strategy *strategy, uint64_t trial,
                           const struct value *point)
{
    uint64_t hash = space_hash(strategy->space, point);

    if (strategy->options.duplicates == DUPLICATES_REUSE) {
        strategy->reusable =
            mem_grow(strategy->reusable, strategy->reusable_count,
                     &strategy->reusable_capacity, sizeof(*strategy->reusable));
        strategy->reusable[strategy->reusable_count++] =
            (struct reusable){.hash = hash};
        return;
    }
    if (is_replicate(strategy, trial) || hash_set_add(&strategy->given, hash) ||
        strategy->method->enumerates || !is_used_up(strategy))
        return;
    hash_set_clear(&strategy->given);
    hash_set_add(&strategy->given, hash);
}

void strategy_restore(struct strategy *strategy, uint64_t trial,
                      const struct value *point, uint64_t cursor)
{
    strategy->cursor = cursor;
    remember_given(strategy, trial, point);
    if (!is_replicate(strategy, trial))
        memcpy(strategy->base, point,
               space_count(strategy->space) * sizeof(*point));
    if (strategy->method->learns)
        fidelity_ask(&strategy->fidelity, trial, point);
}

void strategy_accept(struct strategy *strategy, uint64_t trial,
                     const struct value *point, struct suggestion *suggestion)
{
    *suggestion = (struct suggestion){
        .cursor = strategy->cursor,
        .told = fidelity_history(&strategy->fidelity)->told_count,
    };
    strategy_restore(strategy, trial, point, strategy->cursor);
}

static const enum history_state states_of_outcomes[] = {
    [OUTCOME_COMPLETE] = HISTORY_COMPLETE,
    [OUTCOME_FAILED] = HISTORY_FAILED,
    [OUTCOME_STOPPED] = HISTORY_STOPPED,
    [OUTCOME_CANCELLED] = HISTORY_CANCELLED,
};

/* A method's state may know a result that no longer holds. What create() was
 * given once made a state, so it does again. */
static void forget_state(struct strategy *strategy)
{
    strategy->method->destroy(strategy->state);
    strategy->state =
        strategy->method->create(&strategy->options, strategy->space, NULL);
    if (strategy->state == NULL)
        abort();
}

void strategy_tell(struct strategy *strategy, uint64_t trial,
                   const struct trial_result *result)
{
    size_t index;

    if (trial > 0 && trial <= strategy->reusable_count)
        strategy->reusable[trial - 1].is_complete =
            result->outcome == OUTCOME_COMPLETE;
    if (!strategy->method->learns)
        return;
    index = history_find(&strategy->fidelity.full, trial);
    if (index != SIZE_MAX && fidelity_tell(&strategy->fidelity, index,
                                           states_of_outcomes[result->outcome],
                                           result->values, result->outcomes))
        forget_state(strategy);
}

void strategy_observe(struct strategy *strategy, uint64_t trial,
                      const struct partial_result *result)
{
    size_t index = history_find(&strategy->fidelity.full, trial);

    if (index != SIZE_MAX &&
        fidelity_observe(&strategy->fidelity, index, result))
        forget_state(strategy);
}

void strategy_add_earlier(struct strategy *strategy, const struct value *point,
                          const struct trial_result *result, bool binds)
{
    struct history *history = &strategy->fidelity.full;

    if (binds)
        hash_set_add(&strategy->given, space_hash(strategy->space, point));
    if (!strategy->method->learns)
        return;
    if (!binds && history->transfer == NULL) {
        history->transfer = mem_zero(sizeof(*history->transfer));
        history_init(history->transfer, strategy->space,
                     history->objective_count, history->outcome_count);
    }
    if (!binds)
        history = history->transfer;
    history_tell(history, history_ask(history, 0, point),
                 states_of_outcomes[result->outcome], result->values,
                 result->outcomes);
}
