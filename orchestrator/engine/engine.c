/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine_impl.h"

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
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "orchestrator/run/notify.h"
#include "orchestrator/search/search.h"
#include "orchestrator/steps/below.h"
#include "orchestrator/steps/sharing.h"
#include "orchestrator/steps/takeover.h"

enum { COMMIT_AFTER_MS = 20 };

/* The files of every trial are read so often; those of many trials a slice at a
 * time, so that nothing else has to wait for it. */
enum { READ_EVERY_MS = 200, SLICE_MIN = 100, SLICES_MAX = 20 };

/* ---- what happens once a turn ---- */

int64_t engine_elapsed_ms(const struct engine *engine)
{
    return engine->earlier_ms + clock_monotonic_ms() - engine->started_ms -
           engine_paused_ms(engine);
}

static const char *note(const struct engine *engine)
{
    if (engine->phase == PHASE_DRAINING)
        return "stopping: waiting for running trials";
    if (engine->phase == PHASE_ENDING)
        return "ending running trials";
    if (engine_is_paused(engine))
        return engine->live_count > 0
                   ? "paused: running trials may end; no other starts"
                   : "paused";
    if (engine->phase == PHASE_WAITING || engine_is_held(engine))
        return engine->hold_text;
    if (engine->committed_count > 0 && engine->live_count == 0)
        return "waiting for a free slot";
    if (engine_active(engine) == 0 && !TAILQ_EMPTY(&engine->waiting))
        return "waiting for a retry's time";
    return engine->executor_note;
}

static const char *hint(const struct engine *engine)
{
    if (engine->phase == PHASE_DRAINING)
        return "Ctrl-C ends them";
    return engine->phase == PHASE_ENDING ? "Ctrl-C kills them" : "";
}

void engine_status_fill(struct engine *engine, struct engine_status *status)
{
    *status = (struct engine_status){
        .tally = &engine->tally,
        .steps = engine_steps_status(engine),
        .running = engine->running_count,
        .queued = engine->queued_count,
        .paused = engine->paused_trials,
        .budget_trials = engine->experiment->budget.trials,
        .elapsed_ms = engine_elapsed_ms(engine),
        .parallel = engine->parallel,
        .method =
            engine->strategy != NULL ? strategy_method(engine->strategy) : "",
        .method_reason =
            engine->strategy != NULL ? strategy_reason(engine->strategy) : "",
        .note = note(engine),
        .hint = hint(engine),
        .is_paused = engine_is_paused(engine),
    };
}

void engine_check_budget(struct engine *engine)
{
    const struct experiment *experiment = engine->experiment;
    enum budget_verdict verdict;

    if (engine->phase != PHASE_RUNNING || engine->is_beyond_budget)
        return;
    if (engine->convergence != NULL)
        engine->tally.has_converged = convergence_reached(engine->convergence);
    verdict = budget_check(&experiment->budget, experiment->objectives,
                           &engine->tally, engine_elapsed_ms(engine));
    if (budget_verdict_ends_all(verdict))
        engine_use_up_budget(engine, verdict);
    else if (engine->steps == NULL &&
             budget_is_hopeless(&engine->tally, engine->launch_errors))
        engine_finish_hopeless(engine);
}

/* As long as nothing is started, nothing is asked for either: whether there
 * is more to try, or a trial that rests may go on, is then not known, but for
 * the budget. */
static bool may_have_more(const struct engine *engine)
{
    int64_t trials = engine->experiment->budget.trials;

    return engine_is_held(engine) && !engine->exhausted &&
           (trials == 0 || engine->tally.suggested < trials ||
            engine->paused_trials > 0);
}

static bool is_over(const struct engine *engine)
{
    if (engine_active(engine) > 0 || !TAILQ_EMPTY(&engine->settled) ||
        engine->has_more_to_dispatch)
        return false;
    return engine->phase != PHASE_RUNNING ||
           (!may_have_more(engine) && TAILQ_EMPTY(&engine->ready) &&
            TAILQ_EMPTY(&engine->waiting));
}

/* What the run's end makes of trials that rest and of steps that have not come
 * to theirs; not their user's stop. Some of them a turn; false when there are
 * no more. */
static bool close_rest(struct engine *engine)
{
    if (engine->wish == WISH_INTERRUPT)
        return false;
    if (engine->steps != NULL)
        return engine_steps_close(engine);
    if (engine->paused_trials == 0)
        return false;
    engine_schedule_close(engine);
    return engine->paused_trials > 0;
}

static void on_executor_gone(void *user)
{
    (void)user; /* the loop ends by itself when its last handle is closed */
}

static void close_session(struct engine *engine)
{
    engine->phase = PHASE_CLOSING;
    uv_close((uv_handle_t *)&engine->step, NULL);
    uv_close((uv_handle_t *)&engine->wake, NULL);
    uv_close((uv_handle_t *)&engine->watch, NULL);
    uv_close((uv_handle_t *)&engine->busy, NULL);
    cache_destroy(engine->cache);
    engine->cache = NULL;
    sharing_destroy(engine->sharing);
    engine->sharing = NULL;
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

/* A commit is due when a slot waits for it, when it has gathered long enough,
 * or when nothing else will happen. */
static bool commit_is_due(const struct engine *engine)
{
    if (!store_in_transaction(engine->store))
        return false;
    return (engine->prepared_count > 0 &&
            engine->live_count < engine->parallel) ||
           clock_monotonic_ms() - engine->begun_ms >= COMMIT_AFTER_MS ||
           engine_active(engine) == 0;
}

static void on_wake(uv_timer_t *handle)
{
    engine_start_committed(handle->data); /* what had to wait */
}

static void set_wake(struct engine *engine)
{
    const struct budget *budget = &engine->experiment->budget;
    int64_t now_ms = clock_monotonic_ms();
    int64_t wait_ms = INT64_MAX;
    const struct trial *first = TAILQ_FIRST(&engine->waiting);

    if (engine->has_more_to_dispatch)
        wait_ms = 0;
    if (engine_is_held(engine) && !engine_is_paused(engine))
        wait_ms = engine->held_until_ms - now_ms;
    if (store_in_transaction(engine->store) &&
        engine->begun_ms + COMMIT_AFTER_MS - now_ms < wait_ms)
        wait_ms = engine->begun_ms + COMMIT_AFTER_MS - now_ms;
    if (first != NULL && first->due_ms - now_ms < wait_ms)
        wait_ms = first->due_ms - now_ms;
    if (engine->phase == PHASE_RUNNING && budget->time_ms > 0 &&
        !engine_is_paused(engine) && !engine->is_beyond_budget &&
        budget->time_ms - engine_elapsed_ms(engine) < wait_ms)
        wait_ms = budget->time_ms - engine_elapsed_ms(engine);
    if (wait_ms == INT64_MAX)
        uv_timer_stop(&engine->wake);
    else
        uv_timer_start(&engine->wake, on_wake,
                       (uint64_t)(wait_ms > 0 ? wait_ms : 0), 0);
}

bool engine_commit_now(struct engine *engine)
{
    if (!engine_commit(engine))
        return false;
    engine_report_settled(engine);
    engine_schedule_enforce(engine);
    if (engine->notifier != NULL)
        notifier_send(engine->notifier);
    engine_check_budget(engine);
    engine_submit(engine);
    return true;
}

static void on_step(uv_prepare_t *handle)
{
    struct engine *engine = handle->data;
    bool has_more;

    engine_check_budget(engine);
    engine_record_answers(engine);
    engine_dispatch(engine);
    if (!engine->is_broken && commit_is_due(engine))
        engine_commit_now(engine);
    has_more = !engine->is_broken && is_over(engine) && close_rest(engine);
    if (engine->is_broken ||
        (!has_more && is_over(engine) && !store_in_transaction(engine->store)))
        close_session(engine);
    else
        set_wake(engine);
    if (engine->phase != PHASE_CLOSING)
        engine_log_turn(engine);
}

static void on_busy(uv_idle_t *handle)
{
    if (!engine_read_on(handle->data))
        uv_idle_stop(handle);
}

void engine_keep_reading(struct engine *engine)
{
    uv_idle_start(&engine->busy, on_busy);
}

static void on_watch(uv_timer_t *handle)
{
    struct engine *engine = handle->data;
    int64_t slices = 1 + engine->live_count / SLICE_MIN;

    if (slices > SLICES_MAX)
        slices = SLICES_MAX;
    uv_timer_set_repeat(handle, (uint64_t)(READ_EVERY_MS / slices));
    if (engine_read_trials(engine, engine->live_count / slices + 1))
        engine_keep_reading(engine);
    engine_look_at_nodes(engine);
    engine_tell_status(engine);
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
    [RUN_SUCCEEDED] = NOTIFY_FINISHED,
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
    if (result == 0)
        engine_announce_run(engine, announced[state]);
    if (result == 0)
        result = store_commit(engine->store, err);
    return result;
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
    engine->parallel = engine_find_parallel(run);
    engine->mean_attempt_ms = NAN;
    engine->started_ms = clock_monotonic_ms();
    engine->clock_gap_ms = clock_wall_ms() - engine->started_ms;
    engine->program_path =
        mem_printf("%s:%s", programs, path != NULL ? path : "/usr/bin:/bin");
    engine->site = (struct launch_site){
        .run_name = run->name,
        .work_directory = run->work_directory,
        .program_path = engine->program_path,
        .environment = environ,
    };
    tally_init(&engine->tally, run->experiment->budget.improvement);
    TAILQ_INIT(&engine->ready);
    TAILQ_INIT(&engine->lined_up);
    TAILQ_INIT(&engine->asked);
    TAILQ_INIT(&engine->waiting);
    TAILQ_INIT(&engine->prepared);
    TAILQ_INIT(&engine->committed);
    TAILQ_INIT(&engine->live);
    TAILQ_INIT(&engine->settled);
    engine_log_begin(engine);
    free(programs);
}

static void clear_list(struct trial_list *list)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, trial, link);
        trial_destroy(trial);
    }
}

static void engine_clear(struct engine *engine)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(&engine->live)) != NULL) {
        engine_untrack_live(engine, trial);
        trial_destroy(trial);
    }
    clear_list(&engine->ready);
    clear_list(&engine->lined_up);
    clear_list(&engine->asked);
    clear_list(&engine->waiting);
    clear_list(&engine->prepared);
    clear_list(&engine->committed);
    clear_list(&engine->settled);
    strategy_destroy(engine->strategy);
    steps_destroy(engine->steps);
    takeover_destroy(engine->takeover);
    scheduler_destroy(engine->scheduler);
    convergence_destroy(engine->convergence);
    metric_rules_destroy(engine->reported);
    workspaces_destroy(engine->workspaces);
    pools_destroy(engine->pools);
    notifier_destroy(engine->notifier);
    buf_clear(&engine->avoided);
    free(engine->program_path);
}

static int prepare_steps(struct engine *engine, struct err *err)
{
    struct run *run = engine->run;

    engine->steps = steps_create(run->workflow, run->name, err);
    if (engine->steps == NULL)
        return -1;
    engine->steps->run = run;
    engine->cache = cache_create(&engine->loop, run->store, engine);
    engine->sharing = sharing_create(&engine->loop, engine, engine_on_shared);
    if (run->workflow->take_over.run == 0)
        return 0;
    engine->takeover = takeover_create(run->store, run->workflow, err);
    return engine->takeover != NULL ? 0 : -1;
}

/* What is below a run that is paused starts nothing either. */
static int begin_paused(struct engine *engine, struct err *err)
{
    bool is_paused;

    if (below_is_paused(engine->store, engine->run->id, &is_paused, err) != 0)
        return -1;
    if (is_paused && !engine_pause(engine, false))
        *err = engine->broken;
    return engine->is_broken ? -1 : 0;
}

/* Everything up to the first turn of the loop. */
static int prepare_run(struct engine *engine, bool stop_at_once,
                       struct err *err)
{
    struct run *run = engine->run;

    if (run_read_budget(run, err) != 0 ||
        (run->workflow != NULL && prepare_steps(engine, err) != 0))
        return -1;
    if (run->workflow == NULL)
        engine->strategy =
            search_create_of_run(run->experiment, run->store, run->id, err);
    if (run->experiment->schedule.is_on)
        engine->scheduler = scheduler_create(&run->experiment->schedule.options,
                                             run->experiment->space, err);
    engine->convergence = search_create_convergence(run->experiment);
    engine->reported = metric_rules_create(NULL, 0, err);
    engine->workspaces = workspaces_create(run->directory, err);
    engine->site.workspaces = engine->workspaces;
    engine->pools = pools_create(run->workflow, run->directory,
                                 getenv(POOLS_VARIABLE), err);
    engine->site.pools = engine->pools;
    if (run->experiment->receiver_count > 0)
        engine->notifier = notifier_create(&engine->loop, run->store, run->id,
                                           run->experiment, err);
    if ((engine->strategy == NULL && engine->steps == NULL) ||
        engine->reported == NULL ||
        (run->experiment->schedule.is_on && engine->scheduler == NULL) ||
        engine->workspaces == NULL || engine->pools == NULL ||
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

/* There was nothing left to be done. */
static void explain_end(struct engine *engine)
{
    const struct budget *budget = &engine->experiment->budget;
    struct engine_result *result = engine->result;
    const char *reason = BUDGET_SCHEDULE_OVER;

    if (result->verdict != BUDGET_GO_ON)
        return;
    result->verdict = BUDGET_TRIALS;
    if (engine->exhausted) {
        reason = BUDGET_ALL_TRIED;
    } else if (engine->scheduler == NULL ||
               (budget->trials > 0 &&
                engine->tally.suggested >= budget->trials)) {
        reason = budget_verdict_text(BUDGET_TRIALS);
    } else if (engine->lacks_resource) {
        result->verdict = BUDGET_RESOURCE;
        reason = budget_verdict_text(BUDGET_RESOURCE);
    }
    snprintf(result->reason, sizeof(result->reason), "%s", reason);
}

/* What has come of a search that was not stopped. */
static void conclude_search(struct engine *engine)
{
    struct engine_result *result = engine->result;
    char reason[sizeof(result->reason)];

    explain_end(engine);
    if (budget_verdict_is_failure(result->verdict)) {
        result->state = RUN_FAILED;
    } else if (engine->tally.succeeded == 0) {
        result->state = RUN_FAILED;
        memcpy(reason, result->reason, sizeof(reason));
        snprintf(result->reason, sizeof(result->reason), BUDGET_IN_VAIN "%.*s",
                 (int)(sizeof(reason) - sizeof(BUDGET_IN_VAIN)), reason);
    }
}

static int conclude(struct engine *engine, struct err *err)
{
    struct engine_result *result = engine->result;

    result->tally = engine->tally;
    if (engine->is_broken) {
        store_rollback(engine->store);
        *err = engine->broken;
        return -1;
    }
    if (result->state == RUN_SUCCEEDED && engine->steps != NULL)
        engine_steps_conclude(engine);
    else if (result->state == RUN_SUCCEEDED)
        conclude_search(engine);
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
    if (engine->is_broken)
        close_session(engine);
    uv_run(&engine->loop, UV_RUN_DEFAULT);
    status = conclude(engine, err);
    if (status != 0)
        engine_break(engine, err);
    else
        engine_deliver(engine);
    return status;
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
        goes_on =
            status != 0 && !stop_at_once && engine_wait_to_begin_again(engine);
        if (!goes_on)
            engine_close_control(engine);
        engine_clear(engine);
    } while (goes_on);
    close_loop(engine);
    free(engine);
    return status;
}
