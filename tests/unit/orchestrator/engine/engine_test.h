/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_ORCHESTRATOR_ENGINE_ENGINE_TEST_H
#define SMTUNE_TESTS_UNIT_ORCHESTRATOR_ENGINE_ENGINE_TEST_H

#include <math.h>

#include "base/buf.h"
#include "base/clock.h"
#include "executors/executor_impl.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/dispatch.h"
#include "orchestrator/engine/reading.h"
#include "orchestrator/engine/source/flow.h"
#include "orchestrator/engine/source/foresee.h"
#include "orchestrator/engine/source/schedule.h"
#include "orchestrator/engine/source/search.h"
#include "orchestrator/engine/started.h"
#include "orchestrator/engine/turn.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/temp_files.h"
#include "strategies/gp/convergence.h"
#include "tests/unit/store/store_test.h"

/*
 * An engine without a loop: a run in a store of the test's folder, its source
 * opened, and an executor that keeps what it is asked for. Each test calls the
 * part that it is about.
 */

struct stub_executor {
    struct executor executor; /* first */
    enum start_result start;  /* what it answers to a start */
    uint32_t lacks;           /* for START_FULL */
    int reattach;             /* what it answers to that */
    int64_t starts, reattached;
    struct buf cancelled; /* "3 term, 4 kill, " by attempt */
};

struct bench {
    struct store *store;
    struct run *run;
    struct engine *engine;
    struct engine_result result;
    struct engine_events events;
    struct stub_executor executor;
    struct buf reported; /* "1 succeeded, 2 failed, " by trial */
};

/* ---- the executor ---- */

static inline enum start_result stub_start(struct executor *executor,
                                           const struct attempt_spec *spec,
                                           uint32_t *lacks, struct err *err)
{
    struct stub_executor *stub = (struct stub_executor *)executor;

    (void)spec;
    stub->starts++;
    if (stub->start == START_FULL)
        *lacks |= stub->lacks;
    if (stub->start == START_ERROR)
        err_set(err, ERR_FAILED, "no such program");
    return stub->start;
}

static inline void stub_cancel(struct executor *executor, int64_t attempt,
                               enum cancel_mode mode)
{
    struct stub_executor *stub = (struct stub_executor *)executor;

    buf_printf(&stub->cancelled, "%lld %s, ", (long long)attempt,
               mode == CANCEL_KILL ? "kill" : "term");
}

static inline int stub_reattach(struct executor *executor,
                                const struct attempt_spec *spec,
                                struct err *err)
{
    struct stub_executor *stub = (struct stub_executor *)executor;

    (void)spec, (void)err;
    stub->reattached++;
    return stub->reattach;
}

static inline int stub_slots(const struct executor *executor)
{
    (void)executor;
    return 0;
}

static const struct executor_type stub_type = {
    .name = "stub",
    .start = stub_start,
    .cancel = stub_cancel,
    .reattach = stub_reattach,
    .cpus = stub_slots,
    .gpus = stub_slots,
};

/* ---- what it reports ---- */

static inline void on_report(void *user, const struct engine_trial *trial,
                             const struct engine_status *status)
{
    struct bench *bench = user;

    (void)status;
    buf_printf(&bench->reported, "%lld %s, ", (long long)trial->number,
               trial->state);
}

static inline void on_tick(void *user, const struct engine_status *status)
{
    (void)user, (void)status;
}

static inline void on_warning(void *user, const char *text)
{
    struct bench *bench = user;

    buf_printf(&bench->reported, "%s, ", text);
}

/* ---- life ---- */

static inline struct run *make_run(struct store *store, const char *text)
{
    struct diags *diags = diags_create("test.yaml");
    const struct experiment_source source = {
        .text = text, .length = strlen(text), .path = ""};
    struct err err = {0};
    struct spec spec = {0};
    struct run *run;

    if (spec_parse(&spec, &source, diags, &err) != 0)
        diags_to_err(diags, &err);
    diags_destroy(diags);
    if (spec.experiment == NULL)
        fail_msg("%s", err.text);
    run = run_create(store, &spec, &(struct run_order){.name = "r"}, &err);
    if (run == NULL)
        fail_msg("%s", err.text);
    return run;
}

static inline const struct source *source_of(const struct run *run)
{
    if (run->workflow != NULL)
        return &source_flow;
    return run->experiment->schedule.is_on ? &source_schedule : &source_search;
}

/* A session of the run, of which nothing has been read. */
static inline void begin_engine(struct bench *bench)
{
    struct engine *engine = mem_zero(sizeof(*engine));
    struct err err = {0};

    bench->events = (struct engine_events){.trial_ended = on_report,
                                           .tick = on_tick,
                                           .warn = on_warning,
                                           .user = bench};
    bench->executor.executor.type = &stub_type;
    bench->engine = engine;
    uv_loop_init(&engine->loop);
    engine->run = bench->run;
    engine->store = bench->store;
    engine->experiment = bench->run->experiment;
    engine->events = &bench->events;
    engine->result = &bench->result;
    bench->result = (struct engine_result){.state = RUN_SUCCEEDED};
    engine->source = source_of(bench->run);
    engine->parallel = 2;
    engine->executors[0] = &bench->executor.executor;
    engine->executor_count = 1;
    engine->clocks.mean_attempt_ms = (double)NAN;
    engine->clocks.started_ms = clock_monotonic_ms();
    engine->transaction.clock_gap_ms =
        clock_wall_ms() - engine->clocks.started_ms;
    engine->site = (struct launch_site){
        .run_name = bench->run->name,
        .work_directory = bench->run->work_directory,
        .program_path = "/usr/bin:/bin",
        .environment = environ,
    };
    tally_init(&engine->tally, bench->run->experiment->budget.improvement);
    engine_init_queues(engine);
    must(engine->source->open(engine, &err));
    engine->is_open = true;
    engine->reported = metric_rules_create(NULL, 0, &err);
    engine->workspaces = workspaces_create(bench->run->directory, &err);
    engine->site.workspaces = engine->workspaces;
    engine->pools =
        pools_create(bench->run->workflow, bench->run->directory, NULL, &err);
    engine->site.pools = engine->pools;
    if (engine->workspaces == NULL || engine->pools == NULL)
        fail_msg("%s", err.text);
}

static inline void end_engine(struct bench *bench)
{
    struct engine *engine = bench->engine;

    engine_close_foresight(engine);
    cache_destroy(engine->cache);
    sharing_destroy(engine->sharing);
    temp_files_destroy(engine->temp_files);
    engine_clear_queues(engine);
    strategy_destroy(engine->strategy);
    scheduler_destroy(engine->scheduler);
    convergence_destroy(engine->convergence);
    steps_destroy(engine->steps);
    earlier_results_destroy(engine->earlier_results);
    metric_rules_destroy(engine->reported);
    workspaces_destroy(engine->workspaces);
    pools_destroy(engine->pools);
    uv_run(&engine->loop, UV_RUN_DEFAULT);
    uv_loop_close(&engine->loop);
    if (store_in_transaction(bench->store))
        store_rollback(bench->store);
    free(engine);
    bench->engine = NULL;
}

static inline struct bench begin_bench(const char *folder, const char *text)
{
    struct bench bench = {.store = must_open(folder, STORE_CREATE)};

    bench.run = make_run(bench.store, text);
    begin_engine(&bench);
    return bench;
}

/* Whoever moves the bench tells the events so. */
#define BENCH(name, folder, text)                                              \
    struct bench name = begin_bench(folder, text);                             \
    (name).engine->events = &(name).events;                                    \
    (name).engine->result = &(name).result;                                    \
    (name).engine->executors[0] = &(name).executor.executor;                   \
    (name).events.user = &(name)

static inline void end_bench(struct bench *bench)
{
    end_engine(bench);
    run_close(bench->run);
    store_close(bench->store);
    buf_clear(&bench->reported);
    buf_clear(&bench->executor.cancelled);
}

/* ---- steps of a test ---- */

static inline void must_hold(const struct bench *bench)
{
    if (bench->engine->transaction.is_broken)
        fail_msg("%s", bench->engine->transaction.broken.text);
}

static inline void must_commit(struct bench *bench)
{
    engine_commit(bench->engine);
    must_hold(bench);
}

/* The job that the source begins next. */
static inline struct job *must_begin(struct bench *bench)
{
    int64_t begun = bench->engine->tally.suggested;

    for (int i = 0; i < 10 && bench->engine->tally.suggested == begun; i++)
        assert_true(bench->engine->source->next(bench->engine));
    must_hold(bench);
    return TAILQ_LAST(&bench->engine->queues.ready, job_list);
}

static inline int64_t length_of(const struct job_list *list)
{
    const struct job *job;
    int64_t count = 0;

    TAILQ_FOREACH(job, list, link)
    {
        count++;
    }
    return count;
}

static inline void must_report(struct bench *bench, const char *expected)
{
    assert_string_equal(buf_text(&bench->reported), expected);
    buf_truncate(&bench->reported, 0);
}

static inline void must_cancel(struct bench *bench, const char *expected)
{
    assert_string_equal(buf_text(&bench->executor.cancelled), expected);
    buf_truncate(&bench->executor.cancelled, 0);
}

static inline int append_state(void *user, const struct trial_row *row)
{
    buf_printf(user, "%s ", row->state);
    return 0;
}

/* The states of all jobs in the record, "ready succeeded ", in their order. */
static inline void must_be_recorded(struct bench *bench, const char *states)
{
    struct trial_query query = {.run = bench->run->id, .order = ORDER_NUMBER};
    struct buf found = BUF_INIT;
    struct err err = {0};

    must(store_each_trial(bench->store, &query, append_state, &found, &err));
    assert_string_equal(buf_text(&found), states);
    buf_clear(&found);
}

/* A dispatch ends early on a busy machine; the loop then calls it again. */
static inline void dispatch_all(struct engine *engine)
{
    do
        engine_dispatch(engine);
    while (engine->queues.has_more_to_dispatch);
}

/* As turns of the loop would: all that may run is handed over, and has begun.
 */
static inline void must_start(struct bench *bench)
{
    const struct attempt_place place = {.pid = 1, .node = "", .handle = ""};
    struct engine *engine = bench->engine;
    struct job *job;

    dispatch_all(engine);
    engine_commit_now(engine);
    TAILQ_FOREACH(job, &engine->queues.live, link)
    {
        engine_on_started(engine, job->attempt, &place);
    }
    must_hold(bench);
}

static inline struct job *live_trial(struct bench *bench, int64_t number)
{
    struct job *job;

    TAILQ_FOREACH(job, &bench->engine->queues.live, link)
    {
        if (job->number == number)
            return job;
    }
    fail_msg("trial %lld is not live", (long long)number);
    return NULL;
}

/* The trial's attempt wrote that, and has ended so. */
static inline void must_end(struct bench *bench, int64_t number,
                            enum attempt_cause cause, const char *log)
{
    struct engine *engine = bench->engine;
    struct job *job = live_trial(bench, number);
    char *directory = workspace_attempt_directory(engine->workspaces, number,
                                                  job->attempt_number);
    struct attempt_exit end = {
        .attempt = job->attempt,
        .cause = cause,
        .exit_code = cause == CAUSE_OK     ? 0
                     : cause == CAUSE_EXIT ? 75
                                           : -1,
        .started_ms = clock_wall_ms(),
        .ended_ms = clock_wall_ms() + 5,
    };

    put(directory, ".", "log", log);
    engine_on_ended(engine, &end);
    free(directory);
    must_hold(bench);
}

/* Experiments and workflows of the tests. */

#define TEST_SEARCH                                                            \
    "version: 1\n"                                                             \
    "objective: {metric: loss, goal: minimize}\n"                              \
    "parameters:\n"                                                            \
    "  x: {type: float, min: 0, max: 1}\n"                                     \
    "search: {method: random, seed: 1}\n"                                      \
    "budget: {trials: 4, parallel: 2}\n"                                       \
    "trial:\n"                                                                 \
    "  command: train ${{ x }}\n"                                              \
    "  resources: {cpus: 0}\n"                                                 \
    "  retry: [{match: ['exit:75'], max: 1, delay: 10ms, backoff: 1}]\n"

#define TEST_SCHEDULE                                                          \
    "version: 1\n"                                                             \
    "objective: {metric: loss, goal: minimize}\n"                              \
    "parameters:\n"                                                            \
    "  x: {type: float, min: 0, max: 1}\n"                                     \
    "search: {method: random, seed: 1}\n"                                      \
    "schedule: {method: asha, resource: epochs, min: 1, max: 9, eta: 3}\n"     \
    "budget: {trials: 4, parallel: 2}\n"                                       \
    "trial:\n"                                                                 \
    "  command: train ${{ x }} ${{ epochs }}\n"                                \
    "  checkpoints: true\n"                                                    \
    "  resources: {cpus: 0}\n"

#endif
