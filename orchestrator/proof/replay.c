/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/proof/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/proof/schedule_proof.h"
#include "orchestrator/run/enqueue.h"
#include "orchestrator/search/search.h"
#include "orchestrator/search/told.h"

struct replaying {
    struct replay *replay;
    struct space *space;
    struct strategy *strategy;
    struct store *store;
    struct schedule_proof *proof;
    struct told *told;
    int64_t place;           /* the last one told */
    struct value *recorded;  /* [space_count] */
    struct value *suggested; /* [space_count] */
    struct value *parent;    /* [space_count]: of a clone */
    int64_t run;
    int64_t *enqueued; /* [enqueued_count]: trials that tried such a setting */
    size_t enqueued_count, enqueued_capacity, enqueued_at;
    struct err *err;
};

enum { ENOUGH = 1 };

static int ask_again(struct replaying *replaying, int64_t number)
{
    struct err why = {0};

    switch (strategy_ask(replaying->strategy, (uint64_t)number,
                         replaying->suggested, NULL, &why)) {
    case ASK_OK:
        return 0;
    case ASK_EXHAUSTED:
        return err_set(replaying->err, ERR_FAILED,
                       "trial %" PRId64 ": the search has nothing left to try",
                       number);
    case ASK_ERROR:
        break;
    }
    return err_set(replaying->err, ERR_FAILED, "trial %" PRId64 ": %s", number,
                   why.text);
}

static int compare(struct replaying *replaying, int64_t number)
{
    struct replay *replay = replaying->replay;

    for (size_t i = 0; i < space_count(replaying->space); i++) {
        if (value_equal(&replaying->recorded[i], &replaying->suggested[i]))
            continue;
        replay->differs = number;
        replay->param = space_param(replaying->space, i)->name;
        replay->recorded = replaying->recorded[i];
        replay->suggested = replaying->suggested[i];
        return ENOUGH;
    }
    replay->proved++;
    return 0;
}

static int step_differs(struct replaying *replaying, int64_t number)
{
    struct replay *replay = replaying->replay;

    replay->step_place = replaying->place + 1;
    replay->step_trial = number;
    snprintf(replay->step_text, sizeof(replay->step_text), "%s",
             schedule_proof_text(replaying->proof));
    return ENOUGH;
}

/* What was told up to that place. */
static int tell_until(struct replaying *replaying, int64_t place)
{
    const struct told_item *item;

    while ((item = told_next(replaying->told, place)) != NULL) {
        if (!schedule_proof_tell(replaying->proof, replaying->strategy, item))
            return step_differs(replaying, item->number);
        replaying->place = item->place;
    }
    return 0;
}

static int on_parent(void *user, const struct trial_row *row)
{
    struct replaying *replaying = user;

    return search_point(replaying->space, row, replaying->parent,
                        replaying->err);
}

/* A clone's setting follows from its parent's. */
static int explore_again(struct replaying *replaying,
                         const struct trial_row *row)
{
    struct trial_query query = {.run = replaying->run, .number = row->parent};

    if (store_each_trial(replaying->store, &query, on_parent, replaying,
                         replaying->err) != 0)
        return -1;
    schedule_proof_explore(replaying->proof, row->number, replaying->parent,
                           replaying->suggested);
    strategy_restore(replaying->strategy, (uint64_t)row->number,
                     replaying->suggested, row->cursor);
    return 0;
}

static int keep_enqueued(void *user, const struct enqueued_row *enqueued)
{
    struct replaying *replaying = user;

    replaying->enqueued =
        mem_grow(replaying->enqueued, replaying->enqueued_count,
                 &replaying->enqueued_capacity, sizeof(*replaying->enqueued));
    replaying->enqueued[replaying->enqueued_count++] = enqueued->trial;
    return 0;
}

/* They are tried in their order. */
static int enqueue_again(struct replaying *replaying, int64_t trial)
{
    if (replaying->enqueued_at == replaying->enqueued_count ||
        replaying->enqueued[replaying->enqueued_at] != trial)
        return 0;
    replaying->enqueued_at++;
    return enqueue_load(replaying->store, replaying->run, replaying->space,
                        trial, replaying->strategy, replaying->err);
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct replaying *replaying = user;
    int result;

    if (told_add(replaying->told, row, replaying->err) != 0)
        return -1;
    result = tell_until(replaying, row->seen);
    if (result != 0)
        return result;
    if (replaying->place != row->seen)
        return err_set(replaying->err, ERR_FAILED,
                       "the record lacks results that were known when trial "
                       "%" PRId64 " was suggested",
                       row->number);
    replaying->replay->trials++;
    if (search_point(replaying->space, row, replaying->recorded,
                     replaying->err) != 0)
        return -1;
    if (!schedule_proof_begin(replaying->proof, row))
        return step_differs(replaying, row->number);
    if (enqueue_again(replaying, row->number) != 0)
        return -1;
    if ((row->parent > 0 ? explore_again(replaying, row)
                         : ask_again(replaying, row->number)) != 0)
        return -1;
    return compare(replaying, row->number);
}

static int replay_all(struct replaying *replaying)
{
    struct trial_query query = {.run = replaying->run, .order = ORDER_NUMBER};
    int result = store_each_trial(replaying->store, &query, on_trial, replaying,
                                  replaying->err);

    if (result == 0)
        result = tell_until(replaying, INT64_MAX);
    replaying->replay->steps = schedule_proof_count(replaying->proof);
    return result;
}

int replay_run(struct store *store, int64_t run,
               const struct experiment *experiment, struct replay *replay,
               struct err *err)
{
    size_t count = space_count(experiment->space);
    struct replaying replaying = {
        .replay = replay,
        .space = experiment->space,
        .store = store,
        .run = run,
        .proof = schedule_proof_create(experiment, store, run, err),
        .strategy = search_create_of_run(experiment, store, run, err),
        .err = err,
    };
    int result = -1;

    *replay = (struct replay){0};
    if (replaying.proof != NULL && replaying.strategy != NULL) {
        replaying.told = told_create(experiment, store, run, err);
        replaying.recorded = mem_array(count, sizeof(struct value));
        replaying.suggested = mem_array(count, sizeof(struct value));
        replaying.parent = mem_array(count, sizeof(struct value));
        if (replaying.told != NULL &&
            store_each_enqueued(store, run, keep_enqueued, &replaying, err) ==
                0)
            result = replay_all(&replaying);
    }
    free(replaying.recorded);
    free(replaying.suggested);
    free(replaying.parent);
    free(replaying.enqueued);
    schedule_proof_destroy(replaying.proof);
    told_destroy(replaying.told);
    strategy_destroy(replaying.strategy);
    return result < 0 ? -1 : 0;
}
