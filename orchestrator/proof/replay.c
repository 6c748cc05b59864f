/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One walk over a run's events with a table of judges, each of which proves a
 * part. The walk reads the events twice. The first time it finds the life of
 * each engine, and judges look at what comes later, because an engine that its
 * user stops, or that a budget ends, interrupts or stops trials before the
 * record has it. The second time they judge. A judge that finds a difference is
 * asked no more; the others go on. After the last event a judge concludes that
 * goes by rows in place of events.
 *
 * A judge shares with the engine the pure functions that decide, and nothing
 * else: it knows what the events before had.
 */
#include "orchestrator/proof/replay_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"

static const struct judge *const judges[] = {
    &judge_of_suggestions, &judge_of_flow, &judge_of_decisions};

enum { JUDGE_COUNT = ARRAY_LEN(judges) };

struct walk {
    struct replay replay;
    void *selves[JUDGE_COUNT]; /* NULL: it is not asked, or no more */
};

/* ---- lives of engines ---- */

static bool is_word(const char *word, const char *wanted)
{
    return word != NULL && strcmp(word, wanted) == 0;
}

static void end_life(struct engine_life *life, const json_t *detail)
{
    const char *state = detail_string(detail, "state");
    const char *reason = detail_string(detail, "reason");
    bool is_running = is_word(state, run_state_names[RUN_RUNNING]);

    snprintf(life->state, sizeof(life->state), "%s",
             is_running || state == NULL ? "" : state);
    snprintf(life->reason, sizeof(life->reason), "%s",
             reason != NULL ? reason : "");
    if (!is_running)
        life->may_close = is_word(state, run_state_names[RUN_FAILED]) &&
                          reason != NULL && strncmp(reason, "step ", 5) != 0;
}

static void follow_lives(struct replay *replay)
{
    const struct event_row *event = replay->event;
    struct engine_life *life;

    if (strcmp(event->event, "engine_started") == 0) {
        replay->lives = mem_grow(replay->lives, replay->life_count,
                                 &replay->life_capacity, sizeof(*life));
        replay->lives[replay->life_count++] =
            (struct engine_life){.start_ms = event->time_ms, .may_close = true};
    }
    if (replay->life_count == 0)
        return;
    life = &replay->lives[replay->life_count - 1];
    if (!life->has_ended && !store_event_is_of_people(event->event))
        life->last_ms = event->time_ms;
    if (event->job != 0)
        return;
    life->has_ended |= strcmp(event->event, "engine_ended") == 0;
    life->jumped_ms = count_add(
        life->jumped_ms, detail_integer(replay_detail(replay), "by_ms", 0));
    life->was_edited |= life->has_ended && strcmp(event->event, "edited") == 0;
    if (strcmp(event->event, "run_state") == 0 && !life->was_edited)
        end_life(life, replay_detail(replay));
}

/* ---- the walk ---- */

/* One of a judge's functions, or NULL. A judge that finds a difference is asked
 * no more. */
static int ask(struct walk *walk, size_t i, int (*function)(void *self))
{
    int result;

    if (function == NULL || walk->selves[i] == NULL)
        return 0;
    result = function(walk->selves[i]);
    if (result == REPLAY_DIFFERS) {
        judges[i]->destroy(walk->selves[i]);
        walk->selves[i] = NULL;
    }
    return result < 0 ? -1 : 0;
}

static void forget_event(struct replay *replay)
{
    json_decref(replay->detail);
    replay->detail = NULL;
    replay->event = NULL;
}

static int on_first(void *user, const struct event_row *event)
{
    struct walk *walk = user;
    int result = 0;

    walk->replay.event = event;
    follow_lives(&walk->replay);
    result = replay_note_spec(&walk->replay);
    for (size_t i = 0; i < JUDGE_COUNT && result == 0; i++)
        result = ask(walk, i, judges[i]->look);
    forget_event(&walk->replay);
    return result;
}

static int on_second(void *user, const struct event_row *event)
{
    struct walk *walk = user;
    int result = 0;

    walk->replay.event = event;
    walk->replay.at += strcmp(event->event, "engine_started") == 0;
    for (size_t i = 0; i < JUDGE_COUNT && result == 0; i++)
        result = ask(walk, i, judges[i]->judge);
    forget_event(&walk->replay);
    return result;
}

static int create_judges(struct walk *walk)
{
    for (size_t i = 0; i < JUDGE_COUNT; i++) {
        if (!judges[i]->is_for(walk->replay.spec))
            continue;
        walk->replay.proofs[judges[i]->kind].has_any = true;
        walk->selves[i] = judges[i]->create(&walk->replay);
        if (walk->selves[i] == NULL)
            return -1;
    }
    return 0;
}

static int judge_all(struct walk *walk)
{
    struct replay *replay = &walk->replay;
    int result = store_each_event(replay->store, replay->run, on_first, walk,
                                  replay->err);

    if (result == 0)
        result = store_each_event(replay->store, replay->run, on_second, walk,
                                  replay->err);
    for (size_t i = 0; i < JUDGE_COUNT && result == 0; i++)
        result = ask(walk, i, judges[i]->conclude);
    for (size_t i = 0; i < JUDGE_COUNT && result == 0; i++)
        replay->proofs[judges[i]->kind].is_whole |= walk->selves[i] != NULL;
    return result;
}

int replay_run(struct store *store, int64_t run, const struct spec *spec,
               struct proof proofs[PROOF_COUNT], struct err *err)
{
    struct walk walk = {.replay = {.store = store,
                                   .run = run,
                                   .spec = spec,
                                   .proofs = proofs,
                                   .err = err}};
    int result;

    for (int i = 0; i < PROOF_COUNT; i++)
        proofs[i] = (struct proof){.has_any = false};
    result = replay_find_edits(&walk.replay);
    if (result == 0)
        result = create_judges(&walk);
    if (result == 0)
        result = judge_all(&walk);
    for (size_t i = 0; i < JUDGE_COUNT; i++)
        judges[i]->destroy(walk.selves[i]);
    free(walk.replay.lives);
    return result;
}
