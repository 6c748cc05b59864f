/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/cluster/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/*
 * A worker's attempt is cut into segments, at whose ends somebody has to be
 * told something: the scheduler awaits an observation, the resource is used up,
 * the attempt fails, the training diverges. Between its ends nothing can change
 * a segment, so what it reaches, and when, is known as it begins.
 */

enum { STREAM_SLOWNESS = 220, STREAM_FAILURE };

struct trial {
    const struct curve *curve;
    uint64_t done; /* epochs */
    uint64_t attempts;
};

enum segment_end { END_REACHED, END_FAILED, END_DIVERGED };

struct worker {
    uint64_t trial;      /* from 1; 0: idle */
    uint64_t resource;   /* up to which the attempt may run */
    double fails_at;     /* epochs; infinity: it does not */
    double epoch;        /* time of one in this attempt */
    double began, ended; /* the segment under way, its start-up included */
    double epochs_from;  /* when its first epoch begins */
    uint64_t to;         /* epochs when it has ended */
    enum segment_end end;
};

struct cluster {
    const struct cluster_options *options;
    const struct curves *curves;
    struct strategy *strategy;
    struct scheduler *scheduler; /* NULL: there is none */
    struct trial *trials;        /* [trial_count] */
    size_t trial_count, trial_capacity;
    struct worker *workers;  /* [options->workers] */
    double now, busy, spent; /* until now: of all workers */
    double hit;              /* when the target is reached, as far as known */
    struct cluster_result *result;
};

static double normal(struct rng *rng)
{
    double radius = sqrt(-2 * log(1 - rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

static struct trial *trial_of(const struct cluster *cluster, uint64_t number)
{
    return &cluster->trials[number - 1];
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From the trial's last whole epoch to the next place where something is to be
 * told, `start` after now. */
static void begin_segment(struct cluster *cluster, struct worker *worker,
                          double start)
{
    const struct trial *trial = trial_of(cluster, worker->trial);
    const struct curve *curve = trial->curve;
    uint64_t to = worker->resource;
    double spent;

    if (cluster->scheduler != NULL)
        to = least(to, scheduler_awaits(cluster->scheduler, worker->trial));
    worker->end = END_REACHED;
    if (to > curve->epochs) {
        to = curve->epochs + 1;
        worker->end = END_DIVERGED;
    }
    spent = (double)(to - trial->done);
    if (worker->fails_at < (double)to) {
        worker->end = END_FAILED;
        spent = worker->fails_at - (double)trial->done;
        to = (uint64_t)worker->fails_at;
    }
    worker->to = to;
    worker->began = cluster->now;
    worker->epochs_from = cluster->now + start;
    worker->ended = worker->epochs_from + spent * worker->epoch;
    for (uint64_t i = trial->done; i < least(to, curve->epochs); i++)
        if (curve->errors[i] <= cluster->options->target)
            cluster->hit =
                fmin(cluster->hit,
                     worker->epochs_from +
                         (double)(i + 1 - trial->done) * worker->epoch);
}

static void begin_attempt(struct cluster *cluster, struct worker *worker,
                          uint64_t number, uint64_t resource)
{
    const struct cluster_options *options = cluster->options;
    struct trial *trial = trial_of(cluster, number);
    uint64_t key = number * 4096 + trial->attempts++;
    struct rng slowness, failure;

    rng_init(&slowness, options->seed, key, STREAM_SLOWNESS);
    rng_init(&failure, options->seed, key, STREAM_FAILURE);
    worker->trial = number;
    worker->resource = resource;
    worker->epoch = trial->curve->epoch_s / cluster->curves->epoch_s *
                    exp(options->stragglers * normal(&slowness));
    worker->fails_at = INFINITY;
    if (rng_uniform(&failure) < options->failures)
        worker->fails_at =
            (double)trial->done +
            rng_uniform(&failure) * (double)(resource - trial->done);
    cluster->result->attempts++;
    begin_segment(cluster, worker, options->start);
}

static int begin_trial(struct cluster *cluster, uint64_t *number,
                       struct err *err)
{
    struct value point[CURVE_PARAMETERS];
    enum ask_result result;

    *number = cluster->trial_count + 1;
    result = strategy_ask(cluster->strategy, *number, point, NULL, err);
    if (result == ASK_EXHAUSTED)
        return err_set(err, ERR_FAILED, "nothing is left to try");
    if (result != ASK_OK)
        return -1;
    cluster->trials =
        mem_grow(cluster->trials, cluster->trial_count,
                 &cluster->trial_capacity, sizeof(*cluster->trials));
    cluster->trials[cluster->trial_count++] =
        (struct trial){.curve = curves_nearest(cluster->curves, point)};
    return 0;
}

/* The trial is over. */
static void finish(struct cluster *cluster, uint64_t number,
                   enum trial_outcome outcome)
{
    const struct trial *trial = trial_of(cluster, number);
    const struct trial_result result = {
        .outcome = outcome,
        .values = outcome != OUTCOME_FAILED
                      ? &trial->curve->errors[trial->done - 1]
                      : NULL};

    cluster->result->full_trials += outcome == OUTCOME_COMPLETE;
    strategy_tell(cluster->strategy, number, &result);
}

static void end(struct cluster *cluster, struct worker *worker,
                enum trial_outcome outcome)
{
    finish(cluster, worker->trial, outcome);
    if (cluster->scheduler != NULL)
        scheduler_end(cluster->scheduler, worker->trial, outcome);
    worker->trial = 0;
}

/* Finds work for a worker; 1 when there is none. */
static int employ(struct cluster *cluster, struct worker *worker,
                  struct err *err)
{
    struct assignment next = {.kind = NEXT_NEW, .resource = CURVE_EPOCHS};
    uint64_t number;

    for (;;) {
        if (cluster->scheduler != NULL)
            scheduler_next(cluster->scheduler, false, &next);
        if (next.kind != NEXT_STOP)
            break;
        finish(cluster, next.trial, OUTCOME_STOPPED);
        scheduler_assign(cluster->scheduler, next.trial, &next);
    }
    if (next.kind == NEXT_NONE)
        return 1;
    number = next.trial;
    if (next.kind == NEXT_CLONE)
        return err_set(err, ERR_FAILED,
                       "a table does not know what clones come to");
    if (next.kind == NEXT_NEW && begin_trial(cluster, &number, err) != 0)
        return -1;
    if (cluster->scheduler != NULL)
        scheduler_assign(cluster->scheduler, number, &next);
    begin_attempt(cluster, worker, number, next.resource);
    return 0;
}

static void observe(struct cluster *cluster, struct worker *worker)
{
    const struct trial *trial = trial_of(cluster, worker->trial);
    const double *error = &trial->curve->errors[trial->done - 1];
    struct observation observation = {.trial = worker->trial,
                                      .resource = trial->done,
                                      .value = *error,
                                      .last = *error,
                                      .best = *error};
    struct partial_result partial = {.resource = trial->done, .values = error};
    struct verdict verdict;

    for (uint64_t i = 0; i < trial->done; i++)
        observation.best = fmin(observation.best, trial->curve->errors[i]);
    scheduler_observe(cluster->scheduler, &observation, &verdict);
    partial.goes_on = verdict.decision == DECIDE_CONTINUE;
    strategy_observe(cluster->strategy, worker->trial, &partial);
    if (verdict.decision == DECIDE_STOP)
        end(cluster, worker, OUTCOME_STOPPED);
    else if (verdict.decision == DECIDE_PAUSE)
        worker->trial = 0;
}

static void end_segment(struct cluster *cluster, struct worker *worker)
{
    struct trial *trial = trial_of(cluster, worker->trial);

    cluster->now = worker->ended;
    cluster->busy += worker->ended - worker->began;
    cluster->spent += (worker->ended - worker->epochs_from) / worker->epoch;
    trial->done = worker->to;
    switch (worker->end) {
    case END_FAILED:
        cluster->result->failed_attempts++;
        begin_attempt(cluster, worker, worker->trial, worker->resource);
        return;
    case END_DIVERGED:
        end(cluster, worker, OUTCOME_FAILED);
        return;
    case END_REACHED:
        break;
    }
    if (cluster->scheduler != NULL &&
        trial->done >= scheduler_awaits(cluster->scheduler, worker->trial))
        observe(cluster, worker);
    if (worker->trial != 0 && trial->done == CURVE_EPOCHS)
        end(cluster, worker, OUTCOME_COMPLETE);
    if (worker->trial != 0)
        begin_segment(cluster, worker, 0);
}

static struct worker *next_to_end(const struct cluster *cluster)
{
    struct worker *first = NULL;

    for (size_t i = 0; i < cluster->options->workers; i++) {
        struct worker *worker = &cluster->workers[i];

        if (worker->trial != 0 &&
            (first == NULL || worker->ended < first->ended))
            first = worker;
    }
    return first;
}

/* How far everything is when it ends. */
static void note_end(struct cluster *cluster, double time)
{
    struct cluster_result *result = cluster->result;
    double busy = cluster->busy, spent = cluster->spent;

    for (size_t i = 0; i < cluster->options->workers; i++) {
        const struct worker *worker = &cluster->workers[i];

        if (worker->trial == 0)
            continue;
        busy += time - worker->began;
        spent += fmax(0, time - worker->epochs_from) / worker->epoch;
    }
    result->found = time >= cluster->hit;
    result->time = time;
    result->resource = spent;
    result->busy = busy / (time * (double)cluster->options->workers);
}

static int work(struct cluster *cluster, struct err *err)
{
    const struct cluster_options *options = cluster->options;
    struct worker *worker;
    int status = 0;

    for (;;) {
        status = 0;
        for (size_t i = 0; i < options->workers && status == 0; i++)
            if (cluster->workers[i].trial == 0)
                status = employ(cluster, &cluster->workers[i], err);
        if (status < 0)
            return -1;
        worker = next_to_end(cluster);
        if (worker == NULL)
            return err_set(err, ERR_FAILED, "%s leaves all workers idle",
                           options->contender->name);
        if (worker->ended >= cluster->hit || cluster->spent >= options->most) {
            note_end(cluster, fmin(worker->ended, cluster->hit));
            return 0;
        }
        end_segment(cluster, worker);
    }
}

int cluster_run(const struct curves *curves,
                const struct cluster_options *options,
                struct cluster_result *result, struct err *err)
{
    const struct contender *contender = options->contender;
    const struct strategy_options search = {.method = contender->search,
                                            .seed = options->seed,
                                            .parallel = options->workers,
                                            .random_fraction =
                                                contender->random_fraction};
    struct schedule_options schedule = contender->schedule;
    struct cluster cluster = {.options = options,
                              .curves = curves,
                              .hit = INFINITY,
                              .result = result};
    int status = -1;

    *result = (struct cluster_result){.found = false};
    schedule.seed = options->seed;
    cluster.workers = mem_zero(options->workers * sizeof(*cluster.workers));
    cluster.strategy = strategy_create(&search, curves->space, err);
    if (cluster.strategy == NULL)
        goto out;
    if (schedule.method != NULL) {
        cluster.scheduler = scheduler_create(&schedule, curves->space, err);
        if (cluster.scheduler == NULL)
            goto out;
    }
    status = work(&cluster, err);
    result->trials = cluster.trial_count;
out:
    scheduler_destroy(cluster.scheduler);
    strategy_destroy(cluster.strategy);
    free(cluster.workers);
    free(cluster.trials);
    return status;
}
