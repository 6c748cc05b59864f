/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mask.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "orchestrator/engine/control.h"
#include "orchestrator/engine/core/announce.h"
#include "orchestrator/engine/core/log.h"
#include "orchestrator/engine/core/pause.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/state.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/dispatch.h"
#include "orchestrator/engine/ending.h"
#include "orchestrator/engine/executors.h"
#include "orchestrator/engine/idle.h"
#include "orchestrator/engine/nodes.h"
#include "orchestrator/engine/reading.h"
#include "orchestrator/engine/recover.h"
#include "orchestrator/engine/report.h"
#include "orchestrator/engine/requests.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/engine/source/flow.h"
#include "orchestrator/engine/source/foresee.h"
#include "orchestrator/engine/source/schedule.h"
#include "orchestrator/engine/source/search.h"
#include "orchestrator/engine/submit.h"
#include "orchestrator/engine/turn.h"
#include "orchestrator/run/notify.h"
#include "orchestrator/run/value_check.h"
#include "orchestrator/search/search.h"
#include "orchestrator/steps/child_run.h"
#include "orchestrator/steps/earlier_results.h"
#include "orchestrator/steps/sharing.h"
#include "strategies/gp/convergence.h"

/*
 * The life of the loop. A session reads the record, turns the loop until the
 * run is over, and ends; where the record cannot be written for a while, the
 * engine begins another one. What happens once a turn is on_step(): results,
 * new attempts, one commit, and what had to wait for it.
 */

/* The files of every trial are read so often; those of many trials a slice at a
 * time, so that nothing else has to wait for it. */
enum { READ_EVERY_MS = 200, SLICE_MIN = 100, SLICES_MAX = 20 };

static void on_executor_gone(void *user)
{
    (void)user; /* the loop ends by itself when its last handle is closed */
}

static void close_session(struct engine *engine)
{
    engine->wind_up.phase = PHASE_CLOSING;
    uv_close((uv_handle_t *)&engine->step, NULL);
    uv_close((uv_handle_t *)&engine->wake, NULL);
    uv_close((uv_handle_t *)&engine->watch, NULL);
    uv_close((uv_handle_t *)&engine->busy, NULL);
    engine_close_foresight(engine);
    cache_destroy(engine->cache);
    engine->cache = NULL;
    sharing_destroy(engine->sharing);
    engine->sharing = NULL;
    temp_files_destroy(engine->temp_files);
    engine->temp_files = NULL;
    for (size_t i = 0; i < engine->executor_count; i++)
        executor_destroy(engine->executors[i], on_executor_gone, NULL);
}

/* Not before the run's end is in the record: a signal would end the process. */
static void close_loop(struct engine *engine)
{
    uv_close((uv_handle_t *)&engine->again, NULL);
    uv_close((uv_handle_t *)&engine->interrupt, NULL);
    uv_close((uv_handle_t *)&engine->terminate, NULL);
    uv_run(&engine->loop, UV_RUN_DEFAULT);
    uv_loop_close(&engine->loop);
}

/* ---- turns ---- */

static void on_wake(uv_timer_t *handle)
{
    engine_start_committed(handle->data); /* what had to wait */
}

static void set_wake(struct engine *engine)
{
    int64_t wait_ms = engine_wake_ms(engine);

    if (wait_ms == INT64_MAX)
        uv_timer_stop(&engine->wake);
    else
        uv_timer_start(&engine->wake, on_wake, (uint64_t)wait_ms, 0);
}

static void on_step(uv_prepare_t *handle)
{
    struct engine *engine = handle->data;
    bool has_more;

    engine_check_budget(engine);
    engine_record_answers(engine);
    engine_dispatch(engine);
    if (!engine->transaction.is_broken && engine_commit_is_due(engine))
        engine_commit_now(engine);
    has_more = !engine->transaction.is_broken && engine_is_over(engine) &&
               engine_close_rest(engine);
    if (engine->transaction.is_broken || (!has_more && engine_is_over(engine) &&
                                          !store_in_transaction(engine->store)))
        close_session(engine);
    else
        set_wake(engine);
    if (engine->wind_up.phase == PHASE_CLOSING)
        return;
    if (engine_has_more(engine))
        engine_keep_reading(engine);
    engine_log_turn(engine);
}

static void on_watch(uv_timer_t *handle)
{
    struct engine *engine = handle->data;
    int64_t slices = 1 + engine->queues.live_count / SLICE_MIN;

    if (slices > SLICES_MAX)
        slices = SLICES_MAX;
    uv_timer_set_repeat(handle, (uint64_t)(READ_EVERY_MS / slices));
    if (engine_read_trials(engine, engine->queues.live_count / slices + 1))
        engine_keep_reading(engine);
    engine_look_at_nodes(engine);
    engine_report_status(engine);
}

/* ---- life ---- */

static void open_loop(struct engine *engine)
{
    uv_loop_t *loop = &engine->loop;

    uv_loop_init(loop);
    uv_timer_init(loop, &engine->again);
    uv_signal_init(loop, &engine->interrupt);
    uv_signal_init(loop, &engine->terminate);
    engine->again.data = engine;
    engine->interrupt.data = engine->terminate.data = engine;
    uv_signal_start(&engine->interrupt, engine_on_interrupt, SIGINT);
    uv_signal_start(&engine->terminate, engine_on_terminate, SIGTERM);
    uv_unref((uv_handle_t *)&engine->interrupt);
    uv_unref((uv_handle_t *)&engine->terminate);
}

static void open_session(struct engine *engine)
{
    uv_loop_t *loop = &engine->loop;

    uv_prepare_init(loop, &engine->step);
    uv_timer_init(loop, &engine->wake);
    uv_timer_init(loop, &engine->watch);
    uv_idle_init(loop, &engine->busy);
    engine->step.data = engine->wake.data = engine->watch.data = engine;
    engine->busy.data = engine;
    uv_prepare_start(&engine->step, on_step);
    uv_timer_start(&engine->watch, on_watch, READ_EVERY_MS, READ_EVERY_MS);
}

/* A fake trial keeps a file open. What the executor starts has the limit as it
 * was. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* What wakes the engine is to interrupt no trial. What it starts is as the user
 * has it. */
static void leave_trials_alone(void)
{
    const struct sched_param none = {0};

    if (sched_getscheduler(0) == SCHED_OTHER &&
        getpriority(PRIO_PROCESS, 0) >= 0)
        sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &none);
}

static const enum notify_event announced[] = {
    [RUN_RUNNING] = NOTIFY_STARTED,
    [RUN_SUCCEEDED] = NOTIFY_SUCCEEDED,
    [RUN_FAILED] = NOTIFY_FAILED,
    [RUN_STOPPED] = NOTIFY_STOPPED,
};

static int record_state(struct engine *engine, enum run_state state,
                        int64_t pid, struct err *err)
{
    int result = store_begin(engine->store, err);
    struct claim here;
    int64_t now_ms = 0;

    claim_identify(&here);
    if (result == 0)
        result = engine_note_clock(engine, &now_ms, err);
    if (result == 0 && pid == 0)
        result = store_set_run_paused(engine->store, engine->run->id, false,
                                      now_ms, err);
    if (result == 0)
        result = store_set_run_engine(engine->store, engine->run->id, pid,
                                      here.boot_id, now_ms, err);
    if (result == 0 && pid != 0)
        result = store_set_run_paused(engine->store, engine->run->id,
                                      engine_is_paused(engine), now_ms, err);
    if (result == 0)
        result = store_set_run_state(engine->store, engine->run->id,
                                     run_state_names[state],
                                     engine->result->reason, now_ms, err);
    if (result == 0 && !(state == RUN_RUNNING && engine->was_edited))
        engine_announce_run(engine, announced[state]);
    if (result == 0)
        result = store_commit(engine->store, err);
    return result;
}

static const struct source *find_source(const struct run *run)
{
    if (run->workflow != NULL)
        return &source_flow;
    return run->experiment->schedule.is_on ? &source_schedule : &source_search;
}

static void engine_init(struct engine *engine, struct run *run,
                        const struct engine_events *events,
                        struct engine_result *result)
{
    const char *path = getenv("PATH");
    char *programs = fs_program_directory();

    engine->run = run;
    engine->events = events;
    engine->log = events->log;
    engine->result = result;
    engine->store = run->store;
    engine->experiment = run->experiment;
    engine->source = find_source(run);
    engine->parallel = engine_find_parallel(run);
    engine->clocks.mean_attempt_ms = NAN;
    engine->clocks.started_ms = clock_monotonic_ms();
    engine->transaction.clock_gap_ms =
        clock_wall_ms() - engine->clocks.started_ms;
    engine->program_path =
        mem_printf("%s:%s", programs, path != NULL ? path : "/usr/bin:/bin");
    engine->site = (struct launch_site){
        .run_name = run->name,
        .work_directory = run->work_directory,
        .program_path = engine->program_path,
        .environment = environ,
    };
    tally_init(&engine->tally, run->experiment->budget.improvement);
    engine_init_queues(engine);
    engine_log_begin(engine);
    engine->mask = engine_mask(engine);
    free(programs);
}

static void engine_clear(struct engine *engine)
{
    engine_clear_queues(engine);
    strategy_destroy(engine->strategy);
    steps_destroy(engine->steps);
    earlier_results_destroy(engine->earlier_results);
    scheduler_destroy(engine->scheduler);
    convergence_destroy(engine->convergence);
    metric_rules_destroy(engine->reported);
    workspaces_destroy(engine->workspaces);
    pools_destroy(engine->pools);
    notifier_destroy(engine->notifier);
    buf_clear(&engine->avoided);
    mask_destroy(engine->mask);
    free(engine->program_path);
}

/* What is below a run that is paused starts nothing either. */
static int begin_paused(struct engine *engine, struct err *err)
{
    bool is_paused;

    if (child_run_is_paused(engine->store, engine->run->id, &is_paused, err) !=
        0)
        return -1;
    if (is_paused && !engine_pause(engine, false))
        *err = engine->transaction.broken;
    return engine->transaction.is_broken ? -1 : 0;
}

/* Everything up to the first turn of the loop. */
static int prepare_run(struct engine *engine, bool stop_at_once,
                       struct err *err)
{
    struct run *run = engine->run;

    if ((!stop_at_once &&
         run_check_values(run->experiment, run->workflow, err) != 0) ||
        run_read_budget(run, err) != 0 ||
        engine->source->open(engine, err) != 0)
        return -1;
    engine->is_open = true;
    engine->reported = metric_rules_create(NULL, 0, err);
    experiment_ask_metrics(run->experiment, engine->reported);
    engine->workspaces = workspaces_create(run->directory, err);
    engine->site.workspaces = engine->workspaces;
    engine->pools = pools_create(run->workflow, run->directory,
                                 getenv(POOLS_VARIABLE), err);
    engine->site.pools = engine->pools;
    if (run->experiment->receiver_count > 0)
        engine->notifier = notifier_create(&engine->loop, run->store, run->id,
                                           run->experiment, err);
    if (engine->reported == NULL || engine->workspaces == NULL ||
        engine->pools == NULL ||
        (run->experiment->receiver_count > 0 && engine->notifier == NULL) ||
        engine_open_executors(engine, err) != 0)
        return -1;
    raise_descriptor_limit();
    leave_trials_alone();
    if (record_state(engine, RUN_RUNNING, getpid(), err) != 0 ||
        engine_avoid_nodes(engine, err) != 0 ||
        engine_recover(engine, err) != 0 || begin_paused(engine, err) != 0)
        return -1;
    if (stop_at_once) {
        engine_stop_by_signal(engine, SIGTERM);
        engine_end_all(engine, CANCEL_TERM);
    }
    return 0;
}

static int conclude(struct engine *engine, struct err *err)
{
    struct engine_result *result = engine->result;

    result->tally = engine->tally;
    if (engine->transaction.is_broken) {
        store_rollback(engine->store);
        *err = engine->transaction.broken;
        return -1;
    }
    if (result->state == RUN_SUCCEEDED)
        engine->source->conclude(engine);
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "run %s: %s",
        run_state_names[result->state], result->reason);
    return record_state(engine, result->state, 0, err);
}

static int run_session(struct engine *engine, bool stop_at_once,
                       struct err *err)
{
    int status;

    *engine->result = (struct engine_result){.state = RUN_SUCCEEDED};
    open_session(engine);
    if (prepare_run(engine, stop_at_once, err) != 0)
        engine_break(engine, err);
    if (engine->transaction.is_broken)
        close_session(engine);
    uv_run(&engine->loop, UV_RUN_DEFAULT);
    status = conclude(engine, err);
    if (status != 0)
        engine_break(engine, err);
    else
        engine_deliver(engine);
    return status;
}

/* ---- again ---- */

enum { AGAIN_TICK_MS = 500 };

static void on_again(uv_timer_t *handle)
{
    struct engine *engine = handle->data;

    engine_report_status(engine);
    if (!engine_lacks_room(engine))
        uv_timer_stop(handle);
}

/* What broke the session was of the kind that may pass: waits a while. False
 * when the user would not. */
static bool wait_to_begin_again(struct engine *engine)
{
    if (!err_may_pass(&engine->transaction.broken) || engine->signals > 0 ||
        !engine->is_open)
        return false;
    engine_prolong_shortage(engine, engine->transaction.broken.text);
    engine->wind_up.phase = PHASE_WAITING;
    uv_timer_start(&engine->again, on_again, 0, AGAIN_TICK_MS);
    uv_run(&engine->loop, UV_RUN_DEFAULT);
    return engine->signals == 0;
}

int engine_run(struct run *run, const struct engine_events *events,
               bool stop_at_once, struct engine_result *result, struct err *err)
{
    struct engine *engine = mem_zero(sizeof(*engine));
    bool goes_on;
    int status;

    open_loop(engine);
    engine_open_control(engine, run->directory, events);
    do {
        memset(engine, 0, offsetof(struct engine, loop));
        engine_init(engine, run, events, result);
        status = run_session(engine, stop_at_once, err);
        goes_on = status != 0 && !stop_at_once &&
                  (engine->is_edited ? run_read_again(run, err) == 0
                                     : wait_to_begin_again(engine));
        engine->was_edited |= engine->is_edited;
        if (!goes_on)
            engine_close_control(engine);
        engine_clear(engine);
    } while (goes_on);
    close_loop(engine);
    free(engine);
    return status;
}
