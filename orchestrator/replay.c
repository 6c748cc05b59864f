/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/search.h"
#include "orchestrator/told.h"

struct replaying {
    struct replay *replay;
    const struct experiment *experiment;
    struct space *space;
    struct strategy *strategy;
    struct told *told;
    int64_t place;           /* the last one told */
    struct value *recorded;  /* [space_count] */
    struct value *suggested; /* [space_count] */
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

static int on_trial(void *user, const struct trial_row *row)
{
    struct replaying *replaying = user;
    const struct told_item *trial;

    if (told_add(replaying->told, row, replaying->err) != 0)
        return -1;
    while ((trial = told_next(replaying->told, row->seen)) != NULL) {
        told_tell(replaying->strategy, NULL, replaying->experiment, trial,
                  NULL);
        replaying->place = trial->place;
    }
    if (replaying->place != row->seen)
        return err_set(replaying->err, ERR_FAILED,
                       "the record lacks results that were known when trial "
                       "%" PRId64 " was suggested",
                       row->number);
    replaying->replay->trials++;
    if (search_point(replaying->space, row, replaying->recorded,
                     replaying->err) != 0 ||
        ask_again(replaying, row->number) != 0)
        return -1;
    return compare(replaying, row->number);
}

int replay_run(struct store *store, int64_t run,
               const struct experiment *experiment, struct replay *replay,
               struct err *err)
{
    struct trial_query query = {.run = run, .order = ORDER_NUMBER};
    size_t count = space_count(experiment->space);
    struct replaying replaying = {
        .replay = replay,
        .experiment = experiment,
        .space = experiment->space,
        .strategy = search_create_of_run(experiment, store, run, err),
        .err = err,
    };
    int result = -1;

    *replay = (struct replay){0};
    if (replaying.strategy != NULL) {
        replaying.told = told_create(experiment, store, run, err);
        replaying.recorded = mem_array(count, sizeof(struct value));
        replaying.suggested = mem_array(count, sizeof(struct value));
        if (replaying.told != NULL)
            result = store_each_trial(store, &query, on_trial, &replaying, err);
    }
    free(replaying.recorded);
    free(replaying.suggested);
    told_destroy(replaying.told);
    strategy_destroy(replaying.strategy);
    return result < 0 ? -1 : 0;
}
