/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/proof/fsck.h"
#include "orchestrator/proof/replay.h"
#include "orchestrator/search/search.h"
#include "store/store.h"
#include "tests/fault/sim/check.h"

/* A search that has seen no crash, and no result either. */
struct reference {
    const struct experiment *experiment;
    struct strategy *strategy;
    struct value *wanted, *found;
};

static int on_trial(void *user, const struct trial_row *row)
{
    struct reference *reference = user;
    struct space *space = reference->experiment->space;
    struct err err;

    if (strategy_ask(reference->strategy, (uint64_t)row->number,
                     reference->wanted, NULL, &err) != ASK_OK)
        world_fail("trial %" PRId64 " is one more than there are", row->number);
    if (search_point(space, row, reference->found, &err) != 0)
        world_fail("%s", err.text);
    for (size_t i = 0; i < space_count(space); i++) {
        if (!value_equal(&reference->wanted[i], &reference->found[i]))
            world_fail("trial %" PRId64 " has another %s than without crashes",
                       row->number, space_param(space, i)->name);
    }
    return 0;
}

static void check_reference(const struct history *history, struct store *store,
                            const struct experiment *experiment)
{
    const struct trial_query query = {.run = history->run,
                                      .order = ORDER_NUMBER};
    size_t count = space_count(experiment->space);
    struct err err;
    struct reference reference = {
        .experiment = experiment,
        .strategy = search_create(experiment, NULL, &err),
        .wanted = mem_array(count, sizeof(*reference.wanted)),
        .found = mem_array(count, sizeof(*reference.found)),
    };

    if (reference.strategy == NULL ||
        store_each_trial(store, &query, on_trial, &reference, &err) != 0)
        world_fail("the settings cannot be looked at: %s", err.text);
    strategy_destroy(reference.strategy);
    free(reference.wanted);
    free(reference.found);
}

static void check_replay(const struct history *history, struct store *store,
                         const struct spec *spec)
{
    static const char *const parts[PROOF_COUNT] = {
        [PROOF_SUGGESTIONS] = "suggestions",
        [PROOF_SCHEDULE] = "schedule",
        [PROOF_FLOW] = "flow",
        [PROOF_DECISIONS] = "decisions",
    };
    struct proof proofs[PROOF_COUNT];
    struct err err;

    if (replay_run(store, history->run, spec, proofs, &err) != 0)
        world_fail("the record proves nothing: %s", err.text);
    for (int i = 0; i < PROOF_COUNT; i++) {
        const struct proof *proof = &proofs[i];

        if (proof->has_any && !proof->is_whole)
            world_fail("%s: the record does not prove event %" PRId64
                       ", place %" PRId64 ", trial or job %" PRId64
                       ", step '%s': %s",
                       parts[i], proof->seq, proof->place, proof->number,
                       proof->step != NULL ? proof->step : "", proof->text);
    }
}

static void on_finding(void *user, const struct fsck_finding *finding)
{
    (void)user;
    if (!finding->is_note)
        world_fail("fsck: trial %" PRId64 ", attempt %" PRId64
                   ": %s: '%s', by the events '%s' (%s)",
                   finding->trial, finding->attempt, finding->what,
                   finding->recorded != NULL ? finding->recorded : "",
                   finding->by_events != NULL ? finding->by_events : "",
                   finding->text != NULL ? finding->text : "");
}

static void check_tables(const struct history *history, struct store *store)
{
    struct fsck_counts counts = {0};
    struct err err;

    if (fsck_run(store, history->run, on_finding, NULL, &counts, &err) != 0)
        world_fail("fsck: %s", err.text);
}

/* Whose settings are no search's. */
static bool has_clones(const struct scenario *scenario)
{
    return scenario->schedule != NULL && scenario->schedule->clones;
}

void check_store(const struct history *history)
{
    struct err err;
    struct store *store = store_open(history->directory, STORE_CREATE, &err);
    struct spec spec = {.experiment = NULL};

    if (store == NULL || run_read_spec(store, history->run, &spec, &err) != 0)
        world_fail("the run cannot be read: %s", err.text);
    if (history->scenario.is_thorough)
        check_tables(history, store);
    check_replay(history, store, &spec);
    if (spec.workflow == NULL && !history->scenario.learns &&
        !has_clones(&history->scenario) && !history->enqueueing.was_asked)
        check_reference(history, store, spec.experiment);
    spec_clear(&spec);
    store_close(store);
}
