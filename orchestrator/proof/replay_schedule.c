/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A schedule is asked with is_closed where no new trials may come any more,
 * which the budget says; rows do not tell when that was. So either answer is
 * taken, but not the closed one where a new trial follows in the same session
 * of an engine (unless the budget is one of the resource, which may have room
 * for a new trial again when others used less than they might have, or was
 * changed between the two, or the user enqueued a setting when the search had
 * no more).
 *
 * At the end of a run all paused trials are stopped, whatever the schedule
 * wants: after such a stop there are no more steps in the session.
 */
#include "orchestrator/proof/replay_schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "orchestrator/proof/replay_impl.h"
#include "strategies/schedules/scheduler.h"

/* A promotion, or a stop. */
struct moment {
    int64_t place;
    bool is_before_new;  /* a new trial follows in its session */
    bool is_before_step; /* a new trial or a promotion does */
};

struct replay_schedule {
    const struct experiment *experiment;
    bool had_resource;
    struct scheduler *scheduler;
    struct moment *moments; /* [moment_count] by place */
    size_t moment_count, moment_capacity;
    size_t before_new, before_step; /* of which the flags are not known yet */
    int64_t count;
    char text[256];
};

/* ---- moments ---- */

static void add_moment(struct replay_schedule *proof, int64_t place)
{
    if (place == 0)
        return;
    proof->moments = mem_grow(proof->moments, proof->moment_count,
                              &proof->moment_capacity, sizeof(*proof->moments));
    proof->moments[proof->moment_count++] = (struct moment){.place = place};
}

void replay_schedule_look(struct replay_schedule *proof, struct replay *replay)
{
    const struct event_row *event = replay->event;
    bool is_new = strcmp(event->event, job_event_names[EVENT_SUGGESTED]) == 0;
    bool is_promotion =
        strcmp(event->event, job_event_names[EVENT_PROMOTED]) == 0;

    if (proof->scheduler == NULL)
        return;
    for (; (is_new || is_promotion) && proof->before_step < proof->moment_count;
         proof->before_step++)
        proof->moments[proof->before_step].is_before_step = true;
    for (; is_new && proof->before_new < proof->moment_count;
         proof->before_new++)
        proof->moments[proof->before_new].is_before_new = true;
    if (is_promotion ||
        strcmp(event->event, job_event_names[EVENT_STOPPED]) == 0)
        add_moment(proof, detail_integer(replay_detail(replay), "told", 0));
    if (strcmp(event->event, "engine_started") == 0)
        proof->before_new = proof->before_step = proof->moment_count;
    if (strcmp(event->event, "budget_changed") == 0 ||
        strcmp(event->event, "edited") == 0 ||
        strcmp(event->event, "enqueued") == 0)
        proof->before_new = proof->moment_count;
}

static int compare_moments(const void *key, const void *member)
{
    int64_t place = *(const int64_t *)key;
    const struct moment *moment = member;

    return (place > moment->place) - (place < moment->place);
}

/* Of a place of which no event tells, nothing follows. */
static struct moment find_moment(const struct replay_schedule *proof,
                                 int64_t place)
{
    const struct moment *found =
        proof->moment_count == 0
            ? NULL
            : bsearch(&place, proof->moments, proof->moment_count,
                      sizeof(*proof->moments), compare_moments);

    return found != NULL ? *found : (struct moment){.place = place};
}

/* ---- proof ---- */

struct replay_schedule *replay_schedule_create(
    const struct experiment *experiment, bool had_resource, struct err *err)
{
    struct replay_schedule *proof = mem_zero(sizeof(*proof));

    proof->experiment = experiment;
    proof->had_resource = had_resource;
    if (!experiment->schedule.is_on)
        return proof;
    proof->scheduler =
        scheduler_create(&experiment->schedule.options, experiment->space, err);
    if (proof->scheduler != NULL)
        return proof;
    replay_schedule_destroy(proof);
    return NULL;
}

void replay_schedule_destroy(struct replay_schedule *proof)
{
    if (proof == NULL)
        return;
    scheduler_destroy(proof->scheduler);
    free(proof->moments);
    free(proof);
}

static bool is_same(const struct assignment *a, const struct assignment *b)
{
    return a->kind == b->kind && a->trial == b->trial &&
           (a->kind == NEXT_STOP ||
            (a->resource == b->resource && a->bracket == b->bracket &&
             a->rung == b->rung));
}

static void describe(const struct assignment *assignment, char *text,
                     size_t size)
{
    switch (assignment->kind) {
    case NEXT_NONE:
        snprintf(text, size, "nothing");
        break;
    case NEXT_NEW:
        snprintf(text, size,
                 "a new trial up to %" PRIu64 " in bracket %" PRIu64,
                 assignment->resource, assignment->bracket);
        break;
    case NEXT_CLONE:
        snprintf(text, size, "a clone of trial %" PRIu64 " up to %" PRIu64,
                 assignment->trial, assignment->resource);
        break;
    case NEXT_PROMOTE:
        snprintf(text, size, "a promotion of trial %" PRIu64 " to %" PRIu64,
                 assignment->trial, assignment->resource);
        break;
    case NEXT_STOP:
        snprintf(text, size, "a stop of trial %" PRIu64, assignment->trial);
        break;
    }
}

/* Whether the schedule wants that now. */
static bool is_wanted(struct replay_schedule *proof,
                      const struct assignment *recorded, bool may_be_closed)
{
    struct assignment open, closed;
    char was[96], wanted[96];

    scheduler_next(proof->scheduler, false, &open);
    scheduler_next(proof->scheduler, true, &closed);
    if (is_same(recorded, &open) ||
        (may_be_closed && is_same(recorded, &closed))) {
        proof->count++;
        return true;
    }
    describe(recorded, was, sizeof(was));
    describe(&open, wanted, sizeof(wanted));
    snprintf(proof->text, sizeof(proof->text),
             "recorded %s, but the schedule gives %s", was, wanted);
    return false;
}

bool replay_schedule_begin(struct replay_schedule *proof,
                           const struct trial_row *row)
{
    struct assignment recorded;

    if (proof->scheduler == NULL)
        return true;
    if (!feedback_assignment(row, &recorded)) {
        snprintf(proof->text, sizeof(proof->text),
                 "recorded without a resource");
        return false;
    }
    if (!is_wanted(proof, &recorded, false))
        return false;
    scheduler_assign(proof->scheduler, (uint64_t)row->number, &recorded);
    return true;
}

void replay_schedule_explore(const struct replay_schedule *proof,
                             int64_t number, const struct value *parent,
                             struct value *point)
{
    scheduler_explore(proof->scheduler, (uint64_t)number, parent, point);
}

/* Before it is told. */
static bool check_step(struct replay_schedule *proof,
                       const struct feedback_item *item)
{
    const struct moment moment = find_moment(proof, item->place);
    struct assignment recorded;
    bool may_be_closed = !moment.is_before_new || proof->had_resource;

    if (item->kind == FEEDBACK_PROMOTION) {
        recorded = feedback_promotion(item);
        return is_wanted(proof, &recorded, may_be_closed);
    }
    if (item->kind != FEEDBACK_RESULT || !item->is_scheduled ||
        !item->was_paused || item->state != JOB_STOPPED ||
        !moment.is_before_step)
        return true;
    recorded =
        (struct assignment){.kind = NEXT_STOP, .trial = (uint64_t)item->number};
    return is_wanted(proof, &recorded, may_be_closed);
}

static bool check_verdict(struct replay_schedule *proof,
                          const struct feedback_item *item,
                          const struct verdict *verdict)
{
    if (item->decision == verdict->decision && item->rung == verdict->rung) {
        proof->count++;
        return true;
    }
    snprintf(proof->text, sizeof(proof->text),
             "at %" PRId64 " recorded '%s' (rung %" PRId64
             "), but the schedule gives '%s' (rung %" PRId64 ")",
             item->resource, decision_names[item->decision], item->rung,
             decision_names[verdict->decision], verdict->rung);
    return false;
}

bool replay_schedule_tell(struct replay_schedule *proof,
                          struct strategy *strategy,
                          const struct feedback_item *item)
{
    struct verdict verdict;

    if (proof->scheduler != NULL && !check_step(proof, item))
        return false;
    feedback_tell(strategy, proof->scheduler, proof->experiment, item,
                  &verdict);
    return item->kind != FEEDBACK_OBSERVATION ||
           check_verdict(proof, item, &verdict);
}

int64_t replay_schedule_count(const struct replay_schedule *proof)
{
    return proof->count;
}

const char *replay_schedule_text(const struct replay_schedule *proof)
{
    return proof->text;
}
