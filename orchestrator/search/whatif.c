/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The learning curves of a recorded run, and how it ran them: the input of
 * orchestrator/search/curve_sim.c.
 *
 * All trials are read in one read transaction, so that a running run gives one
 * consistent state. The parallelism is the largest number of attempts at one
 * time, counted by sorting starts and ends. An end precedes a start at the same
 * time. Points of all curves are in one array, which moves as it grows, so
 * curves get their pointers at the end.
 */
#include "orchestrator/search/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

enum { POINTS_MAX = 100000000 };

struct whatif {
    const struct experiment *experiment;
    struct whatif_run run;
    struct curve *curves;
    struct curve_point *points; /* of all curves, one after the other */
    size_t point_count;
};

/* An attempt began (by 1) or ended (by -1). */
struct turn {
    int64_t time_ms;
    int by;
};

struct reading {
    struct whatif *whatif;
    struct store *store;
    int64_t run;
    const struct objective *objective;
    size_t objective_index;
    struct turn *turns;
    size_t turn_count;
    size_t curve_room, point_room, turn_room;
    struct curve *curve; /* the one that is read */
    bool begins_at_zero; /* its steps: the first unit has the step 0 */
    int64_t said_ms;     /* its last point */
    int64_t used_ms;     /* by its attempts */
    uint64_t used;       /* of the resource, where they say so */
    size_t attempts;
    struct err *err;
};

/* ---- reading ---- */

/* Of several points within one unit the last one counts. */
static int on_metric(void *user, const struct metric_row *row)
{
    struct reading *reading = user;
    struct whatif *whatif = reading->whatif;
    uint64_t unit;

    if (strcmp(row->name, reading->objective->metric) != 0 || row->step < 0)
        return 0;
    if (row->step == 0)
        reading->begins_at_zero = true;
    unit = (uint64_t)row->step + reading->begins_at_zero;
    if (reading->curve->count > 0 &&
        whatif->points[whatif->point_count - 1].resource == unit) {
        whatif->point_count--;
        reading->curve->count--;
    }
    if (whatif->point_count == POINTS_MAX)
        return err_set(reading->err, ERR_FAILED,
                       "out of range: the run has more than %d points",
                       POINTS_MAX);
    whatif->points = mem_grow(whatif->points, whatif->point_count,
                              &reading->point_room, sizeof(*whatif->points));
    whatif->points[whatif->point_count++] = (struct curve_point){
        unit,
        reading->objective->maximize ? -row->value : row->value,
    };
    reading->curve->count++;
    if (row->time_ms > reading->said_ms)
        reading->said_ms = row->time_ms;
    return 0;
}

static void add_turn(struct reading *reading, int64_t time_ms, int by)
{
    reading->turns = mem_grow(reading->turns, reading->turn_count,
                              &reading->turn_room, sizeof(*reading->turns));
    reading->turns[reading->turn_count++] = (struct turn){time_ms, by};
}

/* Of one that runs, what it has said is all that is known. */
static int on_attempt(void *user, const struct attempt_row *row)
{
    struct reading *reading = user;
    int64_t end_ms = row->ended_ms > 0 ? row->ended_ms : reading->said_ms;

    if (row->started_ms <= 0 || end_ms < row->started_ms)
        return 0;
    reading->attempts++;
    reading->used_ms = count_add(reading->used_ms, end_ms - row->started_ms);
    reading->used += (uint64_t)row->resource_used;
    if (end_ms > row->started_ms) {
        add_turn(reading, row->started_ms, 1);
        add_turn(reading, end_ms, -1);
    }
    return 0;
}

static enum curve_end end_of(const char *state)
{
    if (strcmp(state, job_state_names[JOB_SUCCEEDED]) == 0)
        return CURVE_COMPLETE;
    return strcmp(state, job_state_names[JOB_FAILED]) == 0 ? CURVE_FAILED
                                                           : CURVE_CUT;
}

static void note_curve(struct whatif_run *run, const struct curve *curve,
                       const struct curve_point *points)
{
    for (size_t i = 0; i < curve->count; i++) {
        uint64_t resource = points[i].resource;

        if (resource > 0 && (run->first == 0 || resource < run->first))
            run->first = resource;
        if (resource > run->longest)
            run->longest = resource;
    }
    run->trials++;
    run->curves += curve->count > 0;
    run->resource += curve->resource;
    run->seconds += curve->seconds;
}

static void note_winner(struct reading *reading, const struct trial_row *row)
{
    struct whatif_run *run = &reading->whatif->run;
    size_t index = reading->objective_index;
    double value;

    if (!reading->curve->is_feasible || index >= row->value_count ||
        reading->curve->end != CURVE_COMPLETE)
        return;
    value = row->values[index];
    if (!isfinite(value) ||
        (run->winner != 0 &&
         (reading->objective->maximize ? value <= run->winner_value
                                       : value >= run->winner_value)))
        return;
    run->winner = row->number;
    run->winner_value = value;
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct reading *reading = user;
    struct whatif *whatif = reading->whatif;
    size_t first = whatif->point_count;
    struct curve *curve;

    if (row->parent > 0)
        return 0;
    whatif->curves = mem_grow(whatif->curves, whatif->run.trials,
                              &reading->curve_room, sizeof(*whatif->curves));
    curve = &whatif->curves[whatif->run.trials];
    *curve = (struct curve){.number = row->number,
                            .end = end_of(row->state),
                            .is_feasible = row->violation == 0.0};
    reading->curve = curve;
    reading->said_ms = reading->used_ms = 0;
    reading->used = 0;
    reading->attempts = 0;
    reading->begins_at_zero = false;
    if (store_each_metric(reading->store, row->job, on_metric, reading,
                          reading->err) != 0 ||
        store_each_attempt(reading->store, reading->run, row->job, on_attempt,
                           reading, reading->err) != 0)
        return -1;
    if (reading->attempts == 0) {
        whatif->point_count = first;
        return 0;
    }
    curve->seconds = (double)reading->used_ms / 1000.0;
    curve->resource = reading->used;
    if (curve->count > 0 &&
        whatif->points[whatif->point_count - 1].resource > curve->resource)
        curve->resource = whatif->points[whatif->point_count - 1].resource;
    note_curve(&whatif->run, curve, whatif->points + first);
    note_winner(reading, row);
    return 0;
}

/* Where one ends as another begins, they did not run at the same time. */
static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    return x->by - y->by;
}

static void count_parallel(struct reading *reading)
{
    struct whatif_run *run = &reading->whatif->run;
    int64_t busy_ms = 0;
    size_t now = 0;

    run->parallel = 1;
    if (reading->turn_count == 0)
        return;
    qsort(reading->turns, reading->turn_count, sizeof(*reading->turns),
          compare_turns);
    for (size_t i = 0; i < reading->turn_count; i++) {
        const struct turn *turn = &reading->turns[i];

        if (now > 0)
            busy_ms += turn->time_ms - turn[-1].time_ms;
        now += (size_t)turn->by;
        if (now > run->parallel)
            run->parallel = now;
    }
    run->elapsed = (double)busy_ms / 1000.0;
}

static int read_all(struct reading *reading)
{
    const struct trial_query query = {.run = reading->run,
                                      .results_only = true};
    bool began;
    int result;

    if (store_read_begin(reading->store, &began, reading->err) < 0)
        return -1;
    result = store_each_trial(reading->store, &query, on_trial, reading,
                              reading->err);
    store_read_end(reading->store, began);
    return result;
}

static void place_points(struct whatif *whatif)
{
    const struct curve_point *points = whatif->points;

    for (size_t i = 0; i < whatif->run.trials; i++) {
        whatif->curves[i].points = points;
        points += whatif->curves[i].count;
    }
}

struct whatif *whatif_create(struct store *store, int64_t run,
                             const struct experiment *experiment,
                             struct err *err)
{
    struct whatif *whatif = mem_zero(sizeof(*whatif));
    struct reading reading = {
        .whatif = whatif, .store = store, .run = run, .err = err};

    reading.objective_index = experiment->schedule.objective;
    reading.objective = &experiment->objectives[reading.objective_index];
    whatif->experiment = experiment;
    whatif->run.metric = reading.objective->metric;
    whatif->run.maximize = reading.objective->maximize;
    whatif->run.unit =
        experiment->schedule.is_on ? experiment->schedule.resource : "steps";
    if (read_all(&reading) == 0) {
        place_points(whatif);
        count_parallel(&reading);
    } else {
        whatif_destroy(whatif);
        whatif = NULL;
    }
    free(reading.turns);
    return whatif;
}

void whatif_destroy(struct whatif *whatif)
{
    if (whatif == NULL)
        return;
    free(whatif->curves);
    free(whatif->points);
    free(whatif);
}

const struct whatif_run *whatif_run(const struct whatif *whatif)
{
    return &whatif->run;
}

/* ---- once more ---- */

void whatif_options(const struct whatif *whatif,
                    struct schedule_options *options)
{
    const struct schedule *schedule = &whatif->experiment->schedule;
    const struct whatif_run *run = &whatif->run;

    *options = schedule->options;
    options->maximize = run->maximize;
    if (!schedule->is_on) {
        options->min = run->first;
        options->max = run->longest;
    } else if (options->max > run->longest) {
        options->max = run->longest;
    }
}

static int check(const struct whatif *whatif,
                 const struct schedule_options *options, struct err *err)
{
    const struct whatif_run *run = &whatif->run;

    if (run->longest <= run->first)
        return err_set(err, ERR_FAILED,
                       "no trial reported '%s' at more than one step",
                       run->metric);
    if (options->max > run->longest)
        return err_set(err, ERR_USAGE,
                       "out of range: max is %" PRIu64
                       ", but no trial used more than %" PRIu64,
                       options->max, run->longest);
    if (strcmp(options->method, "pbt") == 0)
        return err_set(
            err, ERR_USAGE,
            "'pbt' creates new trials, and the record has no curves of "
            "them");
    return 0;
}

const char *whatif_method(const char *word)
{
    for (const char *const *name = scheduler_method_names(); *name != NULL;
         name++) {
        if (strcmp(*name, word) == 0)
            return *name;
    }
    return word;
}

int whatif_try(const struct whatif *whatif,
               const struct schedule_options *options,
               struct curve_sim_result *result, struct err *err)
{
    const struct experiment *experiment = whatif->experiment;
    const struct objective *objective =
        &experiment->objectives[experiment->schedule.objective];
    const struct curve_sim sim = {
        .curves = whatif->curves,
        .count = whatif->run.trials,
        .parallel = whatif->run.parallel,
        .takes_best = objective->value == OBJECTIVE_BEST,
        .has_checkpoints = experiment->task.has_checkpoints,
        .winner = whatif->run.winner,
    };
    struct scheduler *scheduler;

    if (check(whatif, options, err) < 0)
        return -1;
    scheduler = scheduler_create(options, experiment->space, err);
    if (scheduler == NULL) {
        if (err != NULL)
            err->kind = ERR_USAGE;
        return -1;
    }
    curve_sim_run(&sim, scheduler, result);
    scheduler_destroy(scheduler);
    if (objective->maximize)
        result->best_value = -result->best_value;
    return 0;
}
