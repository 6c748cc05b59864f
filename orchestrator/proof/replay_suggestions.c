/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The judge of suggestions and of the schedule goes by rows, whose places say
 * what the search was given before each suggestion, in place of events: a fresh
 * search is asked for one trial after the other, and given what was known by
 * then. replay_schedule.c keeps a fresh schedule beside it.
 */
#include "orchestrator/proof/replay_impl.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/proof/replay_schedule.h"
#include "orchestrator/run/enqueue.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/search.h"

struct suggesting {
    struct replay *replay;
    const struct experiment *experiment;
    struct space *space;
    struct strategy *strategy;
    struct replay_schedule *schedule;
    struct feedback *feedback;
    int64_t place;           /* the last one given */
    struct value *recorded;  /* [space_count] */
    struct value *suggested; /* [space_count] */
    struct value *parent;    /* [space_count]: of a clone */
    int64_t *enqueued; /* [enqueued_count]: trials that tried such a setting */
    size_t enqueued_count, enqueued_capacity, enqueued_at;
};

static int ask_again(struct suggesting *suggesting, int64_t number)
{
    struct err why = {0};

    switch (strategy_ask(suggesting->strategy, (uint64_t)number,
                         suggesting->suggested, NULL, &why)) {
    case ASK_OK:
        return 0;
    case ASK_EXHAUSTED:
        return err_set(suggesting->replay->err, ERR_FAILED,
                       "trial %" PRId64 ": the search has no more settings",
                       number);
    case ASK_ERROR:
        break;
    }
    return err_set(suggesting->replay->err, ERR_FAILED, "trial %" PRId64 ": %s",
                   number, why.text);
}

static void print_value(const struct value *value, struct buf *out)
{
    if (value->type == VALUE_NULL)
        buf_add_string(out, "inactive");
    else
        value_print(value, out);
}

/* Which parameter is another one, and how. */
static int setting_differs(struct suggesting *suggesting, int64_t number,
                           size_t param)
{
    struct proof *proof = &suggesting->replay->proofs[PROOF_SUGGESTIONS];
    struct buf text = BUF_INIT;

    proof->param = space_param(suggesting->space, param)->name;
    proof->recorded = suggesting->recorded[param];
    proof->suggested = suggesting->suggested[param];
    buf_printf(&text, "'%s': recorded ", proof->param);
    print_value(&proof->recorded, &text);
    buf_add_string(&text, ", but the search suggests ");
    print_value(&proof->suggested, &text);
    replay_differ(suggesting->replay, PROOF_SUGGESTIONS, number, "%s",
                  buf_text(&text));
    buf_clear(&text);
    return REPLAY_DIFFERS;
}

static int compare(struct suggesting *suggesting, int64_t number)
{
    for (size_t i = 0; i < space_count(suggesting->space); i++) {
        if (!value_equal(&suggesting->recorded[i], &suggesting->suggested[i]))
            return setting_differs(suggesting, number, i);
    }
    suggesting->replay->proofs[PROOF_SUGGESTIONS].proved++;
    return 0;
}

static int step_differs(struct suggesting *suggesting, int64_t number)
{
    suggesting->replay->proofs[PROOF_SCHEDULE].place = suggesting->place + 1;
    return replay_differ(suggesting->replay, PROOF_SCHEDULE, number, "%s",
                         replay_schedule_text(suggesting->schedule));
}

/* What was told up to that place. */
static int tell_until(struct suggesting *suggesting, int64_t place)
{
    const struct feedback_item *item;

    while ((item = feedback_next(suggesting->feedback, place)) != NULL) {
        if (!replay_schedule_tell(suggesting->schedule, suggesting->strategy,
                                  item))
            return step_differs(suggesting, item->number);
        suggesting->place = item->place;
    }
    return 0;
}

static int on_parent(void *user, const struct trial_row *row)
{
    struct suggesting *suggesting = user;

    return search_point(suggesting->space, row, suggesting->parent,
                        suggesting->replay->err);
}

/* A clone's setting follows from its parent's. */
static int explore_again(struct suggesting *suggesting,
                         const struct trial_row *row)
{
    struct trial_query query = {.run = suggesting->replay->run,
                                .number = row->parent};

    if (store_each_trial(suggesting->replay->store, &query, on_parent,
                         suggesting, suggesting->replay->err) != 0)
        return -1;
    replay_schedule_explore(suggesting->schedule, row->number,
                            suggesting->parent, suggesting->suggested);
    strategy_restore(suggesting->strategy, (uint64_t)row->number,
                     suggesting->suggested, row->cursor);
    return 0;
}

static int keep_enqueued(void *user, const struct enqueued_row *enqueued)
{
    struct suggesting *suggesting = user;

    suggesting->enqueued =
        mem_grow(suggesting->enqueued, suggesting->enqueued_count,
                 &suggesting->enqueued_capacity, sizeof(*suggesting->enqueued));
    suggesting->enqueued[suggesting->enqueued_count++] = enqueued->trial;
    return 0;
}

/* They are tried in their order. */
static int enqueue_again(struct suggesting *suggesting, int64_t trial)
{
    if (suggesting->enqueued_at == suggesting->enqueued_count ||
        suggesting->enqueued[suggesting->enqueued_at] != trial)
        return 0;
    suggesting->enqueued_at++;
    return enqueue_load(suggesting->replay->store, suggesting->replay->run,
                        suggesting->space, trial, suggesting->strategy,
                        suggesting->replay->err);
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct suggesting *suggesting = user;
    int result;

    if (feedback_add(suggesting->feedback, row, suggesting->replay->err) != 0)
        return -1;
    result = tell_until(suggesting, row->seen);
    if (result != 0)
        return result;
    if (suggesting->place != row->seen)
        return err_set(suggesting->replay->err, ERR_FAILED,
                       "the record lacks results that were known when trial "
                       "%" PRId64 " was suggested",
                       row->number);
    if (search_point(suggesting->space, row, suggesting->recorded,
                     suggesting->replay->err) != 0)
        return -1;
    if (!replay_schedule_begin(suggesting->schedule, row))
        return step_differs(suggesting, row->number);
    if (enqueue_again(suggesting, row->number) != 0)
        return -1;
    if ((row->parent > 0 ? explore_again(suggesting, row)
                         : ask_again(suggesting, row->number)) != 0)
        return -1;
    return compare(suggesting, row->number);
}

/* ---- the judge ---- */

static bool is_for(const struct spec *spec)
{
    return spec->workflow == NULL;
}

static void destroy(void *self)
{
    struct suggesting *suggesting = self;

    if (suggesting == NULL)
        return;
    free(suggesting->recorded);
    free(suggesting->suggested);
    free(suggesting->parent);
    free(suggesting->enqueued);
    replay_schedule_destroy(suggesting->schedule);
    feedback_destroy(suggesting->feedback);
    strategy_destroy(suggesting->strategy);
    free(suggesting);
}

static void *create(struct replay *replay)
{
    const struct experiment *experiment = replay->spec->experiment;
    size_t count = space_count(experiment->space);
    struct suggesting *suggesting = mem_zero(sizeof(*suggesting));

    suggesting->replay = replay;
    suggesting->experiment = experiment;
    suggesting->space = experiment->space;
    suggesting->recorded = mem_array(count, sizeof(struct value));
    suggesting->suggested = mem_array(count, sizeof(struct value));
    suggesting->parent = mem_array(count, sizeof(struct value));
    suggesting->schedule =
        replay_schedule_create(experiment, replay->had_resource, replay->err);
    if (suggesting->schedule != NULL)
        suggesting->strategy = search_create_of_run(experiment, replay->store,
                                                    replay->run, replay->err);
    replay->proofs[PROOF_SCHEDULE].has_any = true;
    if (suggesting->strategy != NULL)
        return suggesting;
    destroy(suggesting);
    return NULL;
}

static int look(void *self)
{
    struct suggesting *suggesting = self;

    replay_schedule_look(suggesting->schedule, suggesting->replay);
    return 0;
}

static int conclude(void *self)
{
    struct suggesting *suggesting = self;
    struct replay *replay = suggesting->replay;
    struct proof *schedule = &replay->proofs[PROOF_SCHEDULE];
    struct trial_query query = {.run = replay->run, .order = ORDER_NUMBER};
    int result;

    suggesting->feedback = feedback_create(
        suggesting->experiment, replay->store, replay->run, replay->err);
    if (suggesting->feedback == NULL ||
        store_each_enqueued(replay->store, replay->run, keep_enqueued,
                            suggesting, replay->err) != 0)
        return -1;
    result = store_each_trial(replay->store, &query, on_trial, suggesting,
                              replay->err);
    if (result == 0)
        result = tell_until(suggesting, INT64_MAX);
    schedule->proved = replay_schedule_count(suggesting->schedule);
    schedule->is_whole = result == 0;
    return result;
}

const struct judge judge_of_suggestions = {
    .kind = PROOF_SUGGESTIONS,
    .is_for = is_for,
    .create = create,
    .destroy = destroy,
    .look = look,
    .conclude = conclude,
};
