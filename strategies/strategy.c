/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/strategy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "strategies/hash_set.h"
#include "strategies/lattice.h"
#include "strategies/strategy_impl.h"

/*
 * The wrapper around every method. What it keeps is the cursor, which is in
 * the record with every trial, and the set of points that were given out,
 * which follows from the record: so strategy_restore needs nothing else.
 *
 * When a method's candidates are all infeasible or old for long, a finite
 * space is walked from a random place on: either a point is found that way,
 * or all are used up and a new pass begins. A pass begins where a point comes
 * again, so that the record need not say it.
 */

enum { FINITE_TRIES = 1000, ENDLESS_TRIES = 1000000 };

struct strategy {
    const struct strategy_method *method;
    void *state;
    uint64_t seed;
    struct space *space;
    struct lattice *lattice; /* of a finite space, else NULL */
    struct hash_set given;   /* in this pass */
    uint64_t cursor;
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

const char *strategy_method_doc(const char *method)
{
    const struct strategy_method *found = find_method(method);

    return found != NULL ? found->doc : NULL;
}

static int report_unknown(const char *name, struct err *err)
{
    struct buf text = BUF_INIT;
    const char *nearest = text_nearest(name, method_names, ARRAY_LEN(methods));

    if (nearest != NULL)
        buf_printf(&text, "did you mean '%s'?", nearest);
    else
        for (size_t i = 0; i < ARRAY_LEN(methods); i++)
            buf_printf(&text, "%s%s",
                       i > 0 ? ", " : "one of: ", method_names[i]);
    err_set(err, ERR_FILE, "unknown search method '%s' (%s)", name,
            buf_text(&text));
    buf_clear(&text);
    return -1;
}

struct strategy *strategy_create(const struct strategy_options *options,
                                 struct space *space, struct err *err)
{
    struct strategy_options fit = *options;
    const struct strategy_method *method = find_method(options->method);
    struct strategy *strategy;

    gsl_set_error_handler_off(); /* else it aborts the program */
    if (method == NULL) {
        report_unknown(options->method, err);
        return NULL;
    }
    strategy = mem_zero(sizeof(*strategy));
    if (method->choose != NULL)
        method = method->choose(&fit, space, &strategy->reason);
    else
        buf_add_string(&strategy->reason, "asked for by name");
    strategy->method = method;
    strategy->seed = fit.seed;
    strategy->space = space;
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
    buf_clear(&strategy->reason);
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
    return strategy->method->tell != NULL;
}

static bool is_new(const struct strategy *strategy, const struct value *point)
{
    return !hash_set_has(&strategy->given, space_hash(strategy->space, point));
}

/* ASK_EXHAUSTED: no candidate was both feasible and new. */
static enum ask_result try_candidates(struct strategy *strategy,
                                      struct value *point, struct err *err)
{
    int tries = strategy->lattice != NULL ? FINITE_TRIES : ENDLESS_TRIES;

    for (int i = 0; i < tries; i++) {
        enum ask_result result = strategy->method->next(
            strategy->state, &strategy->cursor, point, err);

        if (result != ASK_OK)
            return result;
        if (space_feasible(strategy->space, point) && is_new(strategy, point))
            return ASK_OK;
    }
    return ASK_EXHAUSTED;
}

/* Positions from..to of the finite space, in order. */
static enum ask_result scan(struct strategy *strategy, uint64_t from,
                            uint64_t to, struct value *point, struct err *err)
{
    uint64_t position = from, next, looks = 0;

    for (; position < to; position = next) {
        if (lattice_at(strategy->lattice, position, point, &next) &&
            is_new(strategy, point))
            return ASK_OK;
        if (++looks == STRATEGY_LOOKS_MAX) {
            err_set(err, ERR_FAILED,
                    "found no new setting that satisfies the constraints among "
                    "%d in a row",
                    STRATEGY_LOOKS_MAX);
            return ASK_ERROR;
        }
    }
    return ASK_EXHAUSTED;
}

static enum ask_result scan_all(struct strategy *strategy, uint64_t trial,
                                struct value *point, struct err *err)
{
    uint64_t size = lattice_size(strategy->lattice);
    enum ask_result result;
    struct rng rng;
    uint64_t start;

    rng_init(&rng, strategy->seed, trial, STREAM_SCAN);
    start = rng_below(&rng, size);
    result = scan(strategy, start, size, point, err);
    if (result == ASK_EXHAUSTED)
        result = scan(strategy, 0, start, point, err);
    return result;
}

static enum ask_result draw(struct strategy *strategy, uint64_t trial,
                            struct value *point, struct err *err)
{
    enum ask_result result = try_candidates(strategy, point, err);

    if (result == ASK_EXHAUSTED && strategy->lattice != NULL)
        result = scan_all(strategy, trial, point, err);
    if (result != ASK_EXHAUSTED)
        return result;
    if (strategy->given.count > 0) { /* a new pass */
        hash_set_clear(&strategy->given);
        return draw(strategy, trial, point, err);
    }
    if (strategy->lattice != NULL)
        err_set(err, ERR_FILE, "no setting satisfies the constraints");
    else
        err_set(err, ERR_FILE,
                "found no setting that satisfies the constraints in %d tries",
                ENDLESS_TRIES);
    return ASK_ERROR;
}

enum ask_result strategy_ask(struct strategy *strategy, uint64_t trial,
                             struct value *point, uint64_t *cursor,
                             struct err *err)
{
    enum ask_result result =
        strategy->method->enumerates
            ? strategy->method->next(strategy->state, &strategy->cursor, point,
                                     err)
            : draw(strategy, trial, point, err);

    if (result == ASK_OK)
        strategy_restore(strategy, trial, point, strategy->cursor);
    *cursor = strategy->cursor;
    return result;
}

void strategy_restore(struct strategy *strategy, UNUSED uint64_t trial,
                      const struct value *point, uint64_t cursor)
{
    uint64_t hash = space_hash(strategy->space, point);

    strategy->cursor = cursor;
    if (strategy->method->enumerates || hash_set_add(&strategy->given, hash))
        return;
    hash_set_clear(&strategy->given);
    hash_set_add(&strategy->given, hash);
}

void strategy_tell(struct strategy *strategy, uint64_t trial,
                   enum trial_outcome outcome, const double *values,
                   size_t count)
{
    if (strategy->method->tell != NULL)
        strategy->method->tell(strategy->state, trial, outcome, values, count);
}
