/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fill_workflow DIRECTORY RUN: adds a workflow's run to a store as an engine
 * would have left it that was killed in the midst of it. With a third word, so
 * many steps in place of those of the file here, half of which are over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/store/store_fill.h"

static const char spec[] =
    "version: 1\n"
    "name: night\n"
    "steps:\n"
    "  prepare: {command: 'true', outputs: {rows: null}}\n"
    "  tell: {needs: prepare, when: any_failed, command: 'true'}\n"
    "  late: {needs: [shard, tune, grow], command: 'true'}\n"
    "  shard:\n"
    "    needs: prepare\n"
    "    matrix: {part: [0, 1], seed: [7, 8]}\n"
    "    success_if: 3\n"
    "    retry:\n"
    "      - {match: ['exit:75'], max: 1}\n"
    "      - {match: [exit], max: 1}\n"
    "    command: 'work ${{ part }} ${{ seed }}'\n"
    "  tune: {needs: prepare, command: 'true'}\n"
    "  grow:\n"
    "    needs: prepare\n"
    "    repeat: {max: 5, values: {batch: {first: 32, next: 'batch * 2'}}}\n"
    "    command: 'work ${{ batch }}'\n";

enum { PREPARE, TELL, LATE, SHARD, TUNE, GROW, STEPS };

static const char *const names[STEPS] = {"prepare", "tell", "late",
                                         "shard",   "tune", "grow"};

struct filling {
    struct store *store;
    int64_t run, number;
    struct err *err;
};

static int change_step(const struct filling *filling, int64_t step,
                       const char *state, const char *event, int64_t copies)
{
    return store_change_step(
        filling->store,
        &(struct step_change){
            .run = filling->run,
            .step = step,
            .state = state,
            .event = event,
            .reason = step == TELL ? "no step that it needs has failed" : NULL,
            .copies = copies,
            .matrix = step == SHARD ? "{\"part\":[0,1],\"seed\":[7,8]}" : NULL,
            .time_ms = fill_start_ms + 1000 * step},
        filling->err);
}

static int add_job(struct filling *filling, int64_t step, int64_t copy,
                   int64_t round, int64_t *id)
{
    char *rounds = round > 0 ? mem_printf("{\"batch\":%d}", 16 << round) : NULL;
    int status = store_add_job(filling->store,
                               &(struct job_new){.run = filling->run,
                                                 .number = ++filling->number,
                                                 .state = "ready",
                                                 .step = step,
                                                 .copy = copy,
                                                 .round = round,
                                                 .rounds = rounds,
                                                 .time_ms = fill_start_ms},
                               id, filling->err);

    free(rounds);
    return status;
}

static int change_job(const struct filling *filling, int64_t job,
                      const char *state, const char *event)
{
    bool is_over = strcmp(state, "running") != 0;
    bool is_ok = strcmp(state, "succeeded") == 0;

    return store_change_job(
        filling->store,
        &(struct job_change){.run = filling->run,
                             .job = job,
                             .state = state,
                             .event = event,
                             .cause = !is_over ? NULL
                                      : is_ok  ? "ok"
                                               : "exit",
                             .time_ms = fill_start_ms,
                             .started_ms = fill_start_ms,
                             .ended_ms = is_over ? fill_start_ms + 2000 : 0,
                             .outputs = is_ok ? "{\"rows\":3}" : NULL},
        filling->err);
}

static int add_attempt(const struct filling *filling, int64_t job,
                       int64_t number, const char *cause, int rule)
{
    struct attempt_end end = {
        .run = filling->run,
        .job = job,
        .cause = cause,
        .exit_code = cause != NULL && strcmp(cause, "ok") == 0 ? 0 : 3,
        .started_ms = fill_start_ms,
        .ended_ms = fill_start_ms + 1000,
        .rule = rule};

    if (fill_attempt(filling->store, filling->run, job, number, fill_start_ms,
                     &end.attempt, filling->err) != 0)
        return -1;
    return cause == NULL
               ? 0
               : store_end_attempt(filling->store, &end, filling->err);
}

/* Copy 0 is fine, copy 1 has failed twice, copy 2 runs, copy 3 could. */
static int fill_shard(struct filling *filling)
{
    int64_t jobs[4];

    for (int64_t copy = 0; copy < 4; copy++) {
        if (add_job(filling, SHARD, copy, 0, &jobs[copy]) != 0)
            return -1;
    }
    if (add_attempt(filling, jobs[0], 1, "ok", -1) != 0 ||
        add_attempt(filling, jobs[1], 1, "exit", 1) != 0 ||
        add_attempt(filling, jobs[1], 2, "exit", -1) != 0 ||
        add_attempt(filling, jobs[2], 1, NULL, -1) != 0)
        return -1;
    return change_job(filling, jobs[0], "succeeded", "succeeded") != 0 ||
                   change_job(filling, jobs[1], "failed", "failed") != 0 ||
                   change_job(filling, jobs[2], "running", "started") != 0
               ? -1
               : 0;
}

static int fill_grow(struct filling *filling)
{
    int64_t job;

    return add_job(filling, GROW, 0, 1, &job) != 0 ||
                   add_attempt(filling, job, 1, "ok", -1) != 0 ||
                   change_job(filling, job, "succeeded", "succeeded") != 0 ||
                   add_job(filling, GROW, 0, 2, &job) != 0 ||
                   add_attempt(filling, job, 1, NULL, -1) != 0 ||
                   change_job(filling, job, "running", "started") != 0
               ? -1
               : 0;
}

/* A child run, of three trials. */
static int fill_tune(struct filling *filling, const char *name)
{
    char *below = mem_printf("%s.tune", name);
    struct run_new run = {.name = below,
                          .kind = "experiment",
                          .spec = "version: 1\n",
                          .overrides = "[]",
                          .spec_path = "",
                          .work_directory = "/tmp",
                          .metrics = (const char *const[]){"loss"},
                          .goals = (const char *const[]){"minimize"},
                          .objective_count = 1,
                          .params = fill_params,
                          .param_count = FILL_PARAMS,
                          .parent = filling->run,
                          .time_ms = fill_start_ms};
    int64_t id;
    int status = add_job(filling, TUNE, 0, 0, &run.parent_job);

    if (status == 0)
        status = add_attempt(filling, run.parent_job, 1, NULL, -1);
    if (status == 0)
        status = change_job(filling, run.parent_job, "running", "started");
    if (status == 0)
        status = store_add_run(filling->store, &run, &id, filling->err);
    for (int64_t n = 1; n <= 3 && status == 0; n++)
        status =
            fill_trial(filling->store, id, n, 1.0 / (double)n, filling->err);
    free(below);
    return status;
}

static int fill_steps(struct filling *filling, const char *name)
{
    int64_t job;

    return change_step(filling, PREPARE, "active", "step_began", 1) != 0 ||
                   add_job(filling, PREPARE, 0, 0, &job) != 0 ||
                   add_attempt(filling, job, 1, "ok", -1) != 0 ||
                   change_job(filling, job, "succeeded", "succeeded") != 0 ||
                   change_step(filling, PREPARE, "succeeded", "step_ended",
                               0) != 0 ||
                   change_step(filling, TELL, "skipped", "step_skipped", 0) !=
                       0 ||
                   change_step(filling, SHARD, "active", "step_began", 4) !=
                       0 ||
                   change_step(filling, TUNE, "active", "step_began", 1) != 0 ||
                   change_step(filling, GROW, "active", "step_began", 1) != 0 ||
                   fill_shard(filling) != 0 || fill_tune(filling, name) != 0 ||
                   fill_grow(filling) != 0
               ? -1
               : 0;
}

static int fill_many(struct filling *filling, int64_t count)
{
    int64_t job;

    for (int64_t step = 0; step < count / 2; step++) {
        if (change_step(filling, step, "active", "step_began", 1) != 0 ||
            add_job(filling, step, 0, 0, &job) != 0 ||
            change_job(filling, job, "succeeded", "reused") != 0 ||
            change_step(filling, step, "succeeded", "step_ended", 0) != 0)
            return -1;
    }
    return 0;
}

static int fill(struct store *store, char **words, struct err *err)
{
    int64_t many = words[1] != NULL ? atoll(words[1]) : 0;
    char **steps = mem_array((size_t)many, sizeof(*steps));
    struct filling filling = {.store = store, .err = err};
    struct run_new run = {.name = words[0],
                          .kind = "workflow",
                          .spec = spec,
                          .overrides = "[]",
                          .spec_path = "/tmp/night.yaml",
                          .work_directory = "/tmp",
                          .steps = names,
                          .step_count = STEPS,
                          .time_ms = fill_start_ms};
    int status = store_begin(store, err);

    for (int64_t i = 0; i < many; i++)
        steps[i] = mem_printf("s%lld", (long long)i);
    if (many > 0) {
        run.steps = (const char *const *)(void *)steps;
        run.step_count = (size_t)many;
    }
    if (status == 0)
        status = store_add_run(store, &run, &filling.run, err);
    if (status == 0)
        status =
            store_set_run_engine(store, filling.run, 1, "", fill_start_ms, err);
    if (status == 0)
        status = many > 0 ? fill_many(&filling, many)
                          : fill_steps(&filling, words[0]);
    for (int64_t i = 0; i < many; i++)
        free(steps[i]);
    free(steps);
    return status == 0 ? store_commit(store, err) : -1;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct store *store;
    int result;

    if (argc < 3 || argc > 4)
        return 2;
    store = store_open(argv[1], STORE_CREATE, &err);
    result = store == NULL ? -1 : fill(store, argv + 2, &err);
    store_close(store);
    if (result < 0)
        fprintf(stderr, "fill_workflow: %s\n", err.text);
    return result < 0;
}
