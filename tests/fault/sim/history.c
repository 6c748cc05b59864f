/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/history.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/system/close_from.h"
#include "store/store.h"
#include "tests/fault/sim/check.h"
#include "tests/fault/sim/clients.h"
#include "tests/fault/sim/disk.h"
#include "tests/fault/sim/folders.h"
#include "tests/fault/sim/loop.h"

/*
 * A crash leaves the engine by longjmp from wherever it was. Its memory is
 * lost, as the memory of a killed process is; sim.c runs few histories a
 * process. Its descriptors are closed, which frees its locks.
 */

enum {
    MAX_SESSIONS = 60,
    FIRST_DESCRIPTOR = 3,
    /* What a session may take for its beginning, its end, and slow turns. */
    SLACK_MS = 2000,
    SMALL_JUMP_MS = 500,
    /* In how many steps a request is done, and what came before it. */
    CHANGE_STEPS = 40
};

/* -- What the engine says -------------------------------------------------*/

static void on_trial_ended(void *user, const struct engine_trial *trial,
                           const struct engine_status *status)
{
    struct history *history = user;
    struct history_end *end;

    (void)status;
    world_trace("trial %" PRId64 ": %s (%s)%s", trial->number, trial->state,
                trial->cause, trial->will_retry ? ", will be retried" : "");
    history->ends = mem_grow(history->ends, history->end_count,
                             &history->end_capacity, sizeof(*history->ends));
    end = &history->ends[history->end_count++];
    *end = (struct history_end){.trial = trial->number,
                                .will_retry = trial->will_retry};
    snprintf(end->state, sizeof(end->state), "%s", trial->state);
    snprintf(end->cause, sizeof(end->cause), "%s", trial->cause);
    for (int i = 0; i < history->scenario.habits.metric_count; i++)
        end->values[i] = trial->values[i];
    history->heard_ms = history->world->now_ms;
    world_step();
}

/* A time budget ends what runs, in its grace period; but an engine that cannot
 * write has to wait, and one whose user stops it lets its trials end. Trials
 * that are put back run all the same. */
static void on_warning(void *user, const char *text)
{
    (void)user;
    world_trace("the engine warns: %s", text);
}

static void on_tick(void *user, const struct engine_status *status)
{
    struct history *history = user;
    const struct scenario *scenario = &history->scenario;
    int64_t limit_ms = budget_changes_time_limit_ms(history);
    int64_t spent_ms = history->engine_ms + history->world->now_ms -
                       history->session_ms -
                       clients_paused_ms(history->world->clients);

    (void)status;
    if (limit_ms > 0 && scenario->full == 0 && !history->world->is_signalled &&
        history->reopenings.count == 0 &&
        spent_ms > limit_ms + scenario->grace_ms + SLACK_MS)
        world_fail("the engine runs for %" PRId64 " ms, and has %" PRId64,
                   spent_ms, limit_ms);
    world_step();
}

int64_t history_time_at_most_ms(const struct history *history)
{
    const struct world *world = history->world;
    int64_t now_ms = world->is_armed ? world->now_ms - history->session_ms : 0;

    return history->known_ms + now_ms + SMALL_JUMP_MS * history->jumps;
}

/* -- What is done to an engine --------------------------------------------*/

static void on_kill(void *user)
{
    world_crash(user);
}

static void on_interrupt(void *user)
{
    struct world *world = user;

    world_trace("SIGINT");
    world->is_signalled = true;
    loop_signal(world, SIGINT);
}

static void on_terminate(void *user)
{
    struct world *world = user;

    world_trace("SIGTERM");
    world->is_signalled = true;
    loop_signal(world, SIGTERM);
}

static void on_jump(void *user)
{
    static const int64_t year_ms = INT64_C(365) * 86400 * 1000;
    struct world *world = user;
    int64_t by_ms = rng_magnitude(&world->rng, 100, year_ms);

    if (rng_percent(&world->rng, 50))
        by_ms = -by_ms;
    world_trace("the wall clock jumps by %" PRId64 " ms", by_ms);
    world->wall_offset_ms += by_ms;
}

static int64_t soon(struct world *world)
{
    return world->now_ms + rng_magnitude(&world->rng, 1, 30000);
}

static void plan_crash(struct history *history)
{
    struct world *world = history->world;
    const struct scenario *scenario = &history->scenario;

    world->steps = world->crash_at_step = 0;
    if (history->crashes >= scenario->crashes)
        return;
    world->crash =
        rng_percent(&world->rng, scenario->power) ? CRASH_POWER : CRASH_KILL;
    if (budget_change_is_any(&history->budget.asked) &&
        rng_percent(&world->rng, 40))
        world->crash_at_step = rng_between(&world->rng, 1, CHANGE_STEPS);
    else if (rng_percent(&world->rng, 40))
        world_schedule(world, soon(world), on_kill, world);
    else
        world->crash_at_step = rng_magnitude(&world->rng, 1, 5000);
}

void history_disturb(struct history *history, bool may_crash)
{
    struct world *world = history->world;

    if (history->scenario.denials > 0)
        disk_deny_at(world->disk, rng_between(&world->rng, 1, 30));
    if (may_crash && history->crashes < history->scenario.crashes &&
        rng_percent(&world->rng, 30))
        world->crash_at_step =
            world->steps + rng_between(&world->rng, 1, CHANGE_STEPS);
}

static void plan_session(struct history *history)
{
    struct world *world = history->world;
    const struct scenario *scenario = &history->scenario;
    int64_t at_ms = soon(world);
    bool is_late = history->sessions > MAX_SESSIONS / 2;

    plan_crash(history);
    disk_fail_at(world->disk, 0);
    disk_deny_at(world->disk, 0);
    disk_fill(world->disk, 0, 0);
    if (rng_percent(&world->rng, scenario->jumps)) {
        world_schedule(world, soon(world), on_jump, world);
        history->jumps++;
    }
    if (is_late)
        return;
    clients_plan(world->clients);
    for (int i = 0; i < 3 && rng_percent(&world->rng, scenario->signals); i++) {
        world_schedule(
            world, at_ms,
            rng_percent(&world->rng, 70) ? on_interrupt : on_terminate, world);
        at_ms += rng_magnitude(&world->rng, 1, 3000);
    }
    if (rng_percent(&world->rng, scenario->faults))
        disk_fail_at(world->disk, rng_magnitude(&world->rng, 1, 600));
    if (rng_percent(&world->rng, scenario->denials))
        disk_deny_at(world->disk, rng_magnitude(&world->rng, 1, 1000));
    if (rng_percent(&world->rng, scenario->full)) {
        at_ms = soon(world);
        disk_fill(world->disk, at_ms,
                  at_ms + rng_magnitude(&world->rng, 1, 20000));
    }
}

/* -- A session ------------------------------------------------------------*/

static int find_run(struct history *history, struct store *store,
                    struct err *err)
{
    int64_t run;

    if (store_find_run(store, "sim", &run, err) == 0) {
        history->run = run;
        return 0;
    }
    return err->kind == ERR_NOT_FOUND ? 1 : -1;
}

static struct run *create_run(struct history *history, struct store *store,
                              struct err *err)
{
    const struct experiment_source source = {
        .text = history->scenario.text,
        .length = strlen(history->scenario.text),
        .path = "",
    };
    struct diags *diags = diags_create("the scenario");
    struct spec spec;

    if (spec_parse(&spec, &source, diags, err) != 0) {
        diags_to_err(diags, err);
        world_fail("the scenario is wrong: %s\n%s", err->text, source.text);
    }
    diags_destroy(diags);
    return run_create(store, &spec, &(struct run_order){0}, err);
}

static struct run *open_run(struct history *history, struct store *store,
                            struct err *err)
{
    struct diags *diags;
    struct run *run;

    switch (find_run(history, store, err)) {
    case 0:
        break;
    case 1:
        if (history->end_count > 0)
            world_fail("the run is gone from the record");
        return create_run(history, store, err);
    default:
        return NULL;
    }
    diags = diags_create("the run's file");
    run = run_open(store, history->run, diags, err);
    diags_destroy(diags);
    return run;
}

/* It may, where the disk or the executor fails it. */
static void give_up(const struct history *history, const struct err *err)
{
    const struct scenario *scenario = &history->scenario;

    world_trace("the engine gives up: %s", err->text);
    if (scenario->faults == 0 && scenario->denials == 0 &&
        scenario->full == 0 && scenario->habits.error == 0 &&
        scenario->habits.break_every == 0)
        world_fail("the engine gives up, and nothing failed it: %s", err->text);
}

/* What a process does for `smtune run` and `smtune resume`. Whether the run is
 * over; not after an error, which another try has to get over. */
static bool run_engine(struct history *history)
{
    const struct engine_events events = {.trial_ended = on_trial_ended,
                                         .tick = on_tick,
                                         .warn = on_warning,
                                         .user = history};
    struct engine_result result;
    struct store *store;
    struct run *run = NULL;
    struct err err;
    int status = -1, goes_on = -1;

    store = store_open(history->directory, STORE_CREATE, &err);
    if (store != NULL)
        run = open_run(history, store, &err);
    history->session_ms = history->heard_ms = history->world->now_ms;
    if (run != NULL) {
        history->run = run->id;
        goes_on = budget_changes_apply(history, run, &err);
    }
    if (goes_on > 0)
        status = engine_run(run, &events, rng_percent(&history->world->rng, 2),
                            &result, &err);
    if (status == 0) {
        history->heard_ms = history->world->now_ms;
        history->result = result;
    } else if (goes_on != 0) { /* the disk knows only what it said before */
        give_up(history, &err);
    }
    run_close(run);
    store_close(store);
    if (goes_on == 0)
        return history->budget.was_over;
    return status == 0 && result.state != RUN_STOPPED;
}

static void crash(struct history *history)
{
    struct world *world = history->world;
    bool power = world->crash == CRASH_POWER;

    world->is_armed = false;
    history->crashes++;
    close_from(FIRST_DESCRIPTOR);
    loop_forget(world);
    site_lose_engine(world->site, power);
    disk_kill(world->disk);
    if (power)
        disk_cut_power(world->disk, &world->rng);
    if (power)
        folders_cut_power(world->folders, &world->rng);
    if (power)
        world->booted_ms = world->now_ms;
}

static void run_session(struct history *history)
{
    struct world *world = history->world;
    int64_t paused_ms;

    history->sessions++;
    world_trace("engine %d", history->sessions);
    plan_session(history);
    history->session_ms = history->heard_ms = world->now_ms;
    world->is_armed = true;
    world->is_signalled = false;
    if (setjmp(world->crashed) == 0) {
        history->is_over = run_engine(history);
        world->is_armed = false;
    } else {
        crash(history);
    }
    disk_fail_at(world->disk, 0); /* that was for the engine */
    disk_fill(world->disk, 0, 0);
    budget_changes_settle(history);
    world_cancel_all(world, world); /* what was to be done to the engine */
    paused_ms = clients_paused_ms(world->clients);
    clients_forget(world->clients);
    history->engine_ms += history->heard_ms - history->session_ms - paused_ms;
    history->known_ms += world->now_ms - history->session_ms - paused_ms;
}

/* Time goes by without an engine. */
static void pause_engine(struct history *history)
{
    struct world *world = history->world;

    world_advance(world, world->now_ms + rng_magnitude(&world->rng, 1, 20000));
}

/* -- A history ------------------------------------------------------------*/

static void play(struct history *history)
{
    while (!history->is_over) {
        if (history->sessions == MAX_SESSIONS)
            world_fail("%d engines did not bring the run to its end",
                       MAX_SESSIONS);
        if (history->sessions > 0)
            pause_engine(history);
        run_session(history);
        if (rng_percent(&history->world->rng, history->scenario.reopens) &&
            reopenings_apply(history))
            history->is_over = false;
        enqueueing_apply(history);
        if (history->sessions < MAX_SESSIONS / 2 &&
            budget_changes_plan(history))
            history->is_over = false;
    }
    world_trace("the run %s: %s", run_state_names[history->result.state],
                history->result.reason);
    site_check_idle(history->world->site);
    check_history(history);
}

static struct disk *first_disk(const struct history *history,
                               const struct disk *template)
{
    return history->scenario.is_new_disk ? disk_create() : disk_copy(template);
}

bool history_run(const struct history_options *options, char failure[1024])
{
    struct history *history = mem_zero(sizeof(*history));
    struct world *world =
        world_create(options->seed, options->sabotage, options->is_traced);
    bool passed = false;

    sqlite3_randomness(0, NULL); /* from now on by this seed */
    history->world = world;
    history->directory = mem_copy_string(options->directory);
    scenario_draw(&history->scenario, options->seed);
    budget_changes_begin(history);
    world_trace("seed %" PRIu64 "\n%s", options->seed, history->scenario.text);
    world->disk = first_disk(history, options->template);
    world->site = site_create(world, &history->scenario.habits);
    world->clients = clients_create(history);
    failure[0] = '\0';
    if (setjmp(world->failed) == 0)
        play(history);
    passed = world->failure[0] == '\0';
    snprintf(failure, 1024, "%s", world->failure);
    close_from(FIRST_DESCRIPTOR);
    world_cancel_all(world, world);
    loop_forget(world);
    world_cancel_all(world, world->clients);
    clients_destroy(world->clients);
    site_destroy(world->site);
    disk_destroy(world->disk);
    scenario_clear(&history->scenario);
    reopenings_clear(history);
    free(history->ends);
    free(history->directory);
    free(history);
    world_destroy(world);
    return passed;
}

struct disk *history_make_template(const char *directory)
{
    struct world *world = world_create(0, SABOTAGE_NONE, false);
    struct disk *disk = disk_create();
    struct store *store;
    struct err err;

    world->disk = disk;
    store = store_open(directory, STORE_CREATE, &err);
    if (store == NULL) {
        fprintf(stderr, "sim: %s\n", err.text);
        exit(2);
    }
    store_close(store);
    world_destroy(world);
    return disk;
}
