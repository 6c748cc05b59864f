/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fill_store DIRECTORY RUN GOAL TRIALS (or, for a workflow's run of so many
 * copies, DIRECTORY RUN workflow COPIES): adds a finished run to a store, as if
 * an engine had run it. Trial n's value falls from 1 towards 0; each tenth
 * trial failed at its first attempt, and again at its second, both on a node
 * that is to be avoided; the first one was seen at a rung, and has a tag. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/store/store_fill.h"

enum { BATCH = 1000 };

static int end_attempt(struct store *store, int64_t run, int64_t job,
                       int64_t number, int64_t time_ms, struct err *err)
{
    struct attempt_end end = {.run = run,
                              .job = job,
                              .cause = "exit",
                              .exit_code = 3,
                              .started_ms = time_ms,
                              .ended_ms = time_ms + 100,
                              .rule = -1};

    struct attempt_new attempt = {.run = run,
                                  .job = job,
                                  .number = number,
                                  .directory = "runs/r/1/1",
                                  .time_ms = time_ms};
    struct attempt_change change = {.run = run,
                                    .job = job,
                                    .pid = -1,
                                    .handle = "4711",
                                    .time_ms = time_ms};

    if (store_add_attempt(store, &attempt, &change.attempt, err) < 0 ||
        store_set_attempt_queued(store, &change, err) < 0)
        return -1;
    change.node = "n3";
    end.attempt = change.attempt;
    return store_set_attempt_running(store, &change, err) < 0
               ? -1
               : store_end_attempt(store, &end, err);
}

static int fill_failed(struct store *store, int64_t run, int64_t number,
                       struct err *err)
{
    int64_t time_ms = fill_start_ms + number * 1000;
    struct job_change change = {.run = run,
                                .state = "failed",
                                .cause = "exit",
                                .event = "failed",
                                .time_ms = time_ms,
                                .started_ms = time_ms,
                                .ended_ms = time_ms};

    if (fill_job(store, run, number, &change.job, err) < 0 ||
        end_attempt(store, run, change.job, 1, time_ms, err) < 0 ||
        end_attempt(store, run, change.job, 2, time_ms + 200, err) < 0)
        return -1;
    return store_change_job(store, &change, err);
}

static int observe(void *user, const struct trial_row *trial)
{
    struct observation_new *observation = user;

    observation->job = trial->job;
    return 0;
}

static int fill_first(struct store *store, int64_t run, struct err *err)
{
    struct trial_query query = {.run = run, .number = 1};
    struct observation_new observation = {.run = run,
                                          .attempt = 1,
                                          .resource = 3,
                                          .told = 1,
                                          .last = 1,
                                          .best = 1,
                                          .decision = "continue",
                                          .reason = "rung 0: it is the first",
                                          .time_ms = fill_start_ms};

    struct tag_change tag = {.run = run,
                             .add = (const char *const[]){"baseline"},
                             .add_count = 1,
                             .time_ms = fill_start_ms};

    if (store_each_trial(store, &query, observe, &observation, err) < 0)
        return -1;
    tag.job = observation.job;
    return store_add_observation(store, &observation, err) < 0
               ? -1
               : store_change_tags(store, &tag, err);
}

static int fill_copy(struct store *store, int64_t run, int64_t copy,
                     struct err *err)
{
    struct job_new job = {.run = run,
                          .number = copy + 1,
                          .state = "ready",
                          .copy = copy,
                          .time_ms = fill_start_ms};
    struct job_change change = {.run = run,
                                .state = "succeeded",
                                .cause = "ok",
                                .event = "reused",
                                .time_ms = fill_start_ms,
                                .ended_ms = fill_start_ms + 1000,
                                .outputs = "{\"rows\":3}",
                                .told = copy + 1};

    return store_add_job(store, &job, &change.job, err) < 0
               ? -1
               : store_change_job(store, &change, err);
}

static int fill_workflow(struct store *store, char **words, struct err *err)
{
    static const char *const steps[] = {"shard", "train"};
    struct run_new run = {.name = words[0],
                          .kind = "workflow",
                          .spec = "steps: {}\n",
                          .overrides = "[]",
                          .spec_path = "",
                          .work_directory = "/tmp",
                          .steps = steps,
                          .step_count = ARRAY_LEN(steps),
                          .time_ms = fill_start_ms};
    struct step_change step = {.state = "active",
                               .event = "step_began",
                               .copies = atoll(words[2]),
                               .time_ms = fill_start_ms};

    if (store_begin(store, err) < 0 ||
        store_add_run(store, &run, &step.run, err) < 0 ||
        store_change_step(store, &step, err) < 0)
        return -1;
    for (int64_t copy = 0; copy < step.copies; copy++) {
        if (fill_copy(store, step.run, copy, err) < 0)
            return -1;
    }
    return store_commit(store, err);
}

static int fill(struct store *store, char **words, struct err *err)
{
    int64_t trials = atoll(words[2]);
    int64_t run;

    if (store_begin(store, err) < 0 ||
        fill_run(store, words[0], words[1], &run, err) < 0 ||
        store_set_run_engine(store, run, 1, "", fill_start_ms, err) < 0)
        return -1;
    for (int64_t n = 1; n <= trials; n++) {
        if (store_begin(store, err) < 0 ||
            (n % 10 == 0
                 ? fill_failed(store, run, n, err)
                 : fill_trial(store, run, n, 1.0 / (double)n, err)) < 0 ||
            (n % BATCH == 0 && store_commit(store, err) < 0))
            return -1;
    }
    if (store_begin(store, err) < 0 || fill_first(store, run, err) < 0 ||
        store_avoid_node(store, "n3", "it is slow", 0, err) < 0 ||
        store_set_run_engine(store, run, 0, "", fill_start_ms, err) < 0 ||
        store_set_run_state(store, run, "succeeded", "budget used",
                            fill_start_ms + (trials + 2) * 1000, err) < 0)
        return -1;
    return store_commit(store, err);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct store *store;
    int result;

    if (argc != 5)
        return 2;
    store = store_open(argv[1], STORE_CREATE, &err);
    result = store == NULL ? -1
             : strcmp(argv[3], "workflow") == 0
                 ? fill_workflow(store, argv + 2, &err)
                 : fill(store, argv + 2, &err);
    store_close(store);
    if (result < 0)
        fprintf(stderr, "fill_store: %s\n", err.text);
    return result < 0;
}
