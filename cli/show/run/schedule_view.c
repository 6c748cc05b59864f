/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/schedule_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "cli/show/run/schedule_label.h"
#include "cli/term/document.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/feedback.h"

/* ---- the schedule ---- */

static int add_schedule(struct document *document,
                        const struct experiment *experiment, int64_t used,
                        struct err *err)
{
    const struct schedule_options *options = &experiment->schedule.options;
    struct schedule_concerns by = schedule_concerns_of(options->method);
    int64_t budget = experiment->budget.resource;
    const struct {
        struct table_column column;
        struct value value;
        bool is_shown;
    } fields[] = {
        {{"method", NULL, COLUMN_TEXT, NULL},
         value_text(options->method),
         true},
        {{"type", NULL, COLUMN_TEXT, NULL},
         value_text(schedule_type_word(options->type)),
         by.type},
        {{"rule", NULL, COLUMN_TEXT, NULL}, value_text(options->rule), by.rule},
        {{"eta", NULL, COLUMN_NUMBER, NULL},
         value_int((int64_t)options->eta),
         by.eta},
        {{"patience", NULL, COLUMN_NUMBER, NULL},
         value_int((int64_t)options->patience),
         by.patience},
        {{"resource", NULL, COLUMN_TEXT, NULL},
         value_text(experiment->schedule.resource),
         true},
        {{"min", NULL, COLUMN_NUMBER, NULL},
         value_int((int64_t)options->min),
         true},
        {{"max", NULL, COLUMN_NUMBER, NULL},
         value_int_if(options->max != SCHEDULE_NO_MAX, (int64_t)options->max),
         true},
        {{"used", NULL, COLUMN_NUMBER, NULL}, value_int(used), true},
        {{"budget", NULL, COLUMN_NUMBER, NULL},
         value_int_if(budget > 0, budget),
         true},
    };
    struct table_column columns[ARRAY_LEN(fields)];
    struct value cells[ARRAY_LEN(fields)];
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!fields[i].is_shown)
            continue;
        columns[count] = fields[i].column;
        cells[count++] = fields[i].value;
    }
    return document_fields(document, "schedule", columns, cells, count, err);
}

static int add_used(struct document *document, int64_t used, struct err *err)
{
    static const struct table_column columns[] = {
        {"used", NULL, COLUMN_NUMBER, NULL}};
    const struct value cell = value_int(used);

    return document_fields(document, "schedule", columns, &cell, 1, err);
}

int schedule_view_add(struct document *document, const struct run_view *view,
                      struct err *err)
{
    struct err unreadable;
    struct experiment *experiment;
    int64_t used;
    int status;

    if (!view->row.is_scheduled)
        return 0;
    if (store_sum_resource(view->store, view->row.id, &used, err) < 0)
        return -1;
    experiment = run_read_experiment(view->store, view->row.id, &unreadable);
    status = experiment != NULL ? add_schedule(document, experiment, used, err)
                                : add_used(document, used, err);
    experiment_destroy(experiment);
    return status;
}

/* ---- its rungs ---- */

struct rung_line {
    int64_t bracket, rung, resource, planned;
    int64_t reached, promoted, stopped, waiting, running;
    double cutoff; /* NaN: none was promoted */
};

struct ladder_view {
    struct rung_line *lines; /* [count], by bracket, then rung */
    size_t count, capacity;
    /* Where a trial was looked at last: an index and 1; 0: nowhere yet. */
    size_t *last; /* [trials + 1], by number */
    int64_t trials;
    bool maximize, takes_best;
};

static int on_rung(void *user, const struct rung_new *rung)
{
    struct ladder_view *ladder = user;

    ladder->lines = mem_grow(ladder->lines, ladder->count, &ladder->capacity,
                             sizeof(*ladder->lines));
    ladder->lines[ladder->count++] = (struct rung_line){
        .bracket = rung->bracket,
        .rung = rung->rung,
        .resource = rung->resource,
        .planned = rung->trials,
        .cutoff = (double)NAN,
    };
    return 0;
}

/* NULL: it is no rung of the plan. */
static struct rung_line *find_line(const struct ladder_view *ladder,
                                   int64_t bracket, int64_t rung)
{
    for (size_t i = 0; i < ladder->count; i++) {
        struct rung_line *line = &ladder->lines[i];

        if (line->bracket == bracket && line->rung == rung)
            return line;
    }
    return NULL;
}

static bool is_top(const struct ladder_view *ladder,
                   const struct rung_line *line)
{
    size_t next = (size_t)(line - ladder->lines) + 1;

    return next == ladder->count ||
           ladder->lines[next].bracket != line->bracket;
}

static void count_promoted(const struct ladder_view *ladder,
                           struct rung_line *line, double value)
{
    line->promoted++;
    if (isnan(line->cutoff) ||
        (ladder->maximize ? value < line->cutoff : value > line->cutoff))
        line->cutoff = value;
}

/* A program that reports seldom jumps over rungs: it reached them, and nothing
 * stopped it there. */
static void count_jumped(const struct ladder_view *ladder,
                         const struct observation_row *row,
                         const struct rung_line *line)
{
    size_t last = ladder->last[row->number];
    struct rung_line *jumped =
        last > 0 ? &ladder->lines[last] : find_line(ladder, row->bracket, 0);

    for (; jumped != NULL && jumped < line; jumped++) {
        jumped->reached++;
        jumped->promoted++;
    }
}

static int on_observation(void *user, const struct observation_row *row)
{
    struct ladder_view *ladder = user;
    struct rung_line *line = find_line(ladder, row->bracket, row->rung);
    bool is_promoted =
        row->promoted_to > 0 ||
        strcmp(row->decision, decision_names[DECIDE_CONTINUE]) == 0;

    if (line == NULL || row->number > ladder->trials)
        return 0;
    count_jumped(ladder, row, line);
    line->reached++;
    ladder->last[row->number] = (size_t)(line - ladder->lines) + 1;
    if (is_promoted && !is_top(ladder, line))
        count_promoted(ladder, line,
                       ladder->takes_best ? row->best : row->last);
    return 0;
}

/* What it runs towards: the rung above the last one. */
static struct rung_line *next_line(const struct ladder_view *ladder,
                                   const struct trial_row *row)
{
    size_t line = ladder->last[row->number];

    if (line == 0)
        return find_line(ladder, row->bracket, row->rung);
    return is_top(ladder, &ladder->lines[line - 1]) ? NULL
                                                    : &ladder->lines[line];
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct ladder_view *ladder = user;
    struct rung_line *last, *next;

    if (row->number > ladder->trials)
        return 0;
    next = next_line(ladder, row);
    if (strcmp(row->state, job_state_names[JOB_RUNNING]) == 0 && next != NULL)
        next->running++;
    if (ladder->last[row->number] == 0)
        return 0;
    last = &ladder->lines[ladder->last[row->number] - 1];
    last->waiting += strcmp(row->state, job_state_names[JOB_PAUSED]) == 0;
    last->stopped += strcmp(row->state, job_state_names[JOB_STOPPED]) == 0;
    return 0;
}

static void read_objective(struct ladder_view *ladder,
                           const struct run_view *view)
{
    struct err unreadable;
    struct experiment *experiment =
        run_read_experiment(view->store, view->row.id, &unreadable);
    const struct objective *objective;

    if (experiment == NULL)
        return;
    objective = &experiment->objectives[experiment->schedule.objective];
    ladder->maximize = objective->maximize;
    ladder->takes_best = objective->value == OBJECTIVE_BEST;
    experiment_destroy(experiment);
}

static int read_ladder(struct ladder_view *ladder, const struct run_view *view,
                       struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .results_only = true};

    if (store_each_rung(view->store, view->row.id, on_rung, ladder, err) < 0)
        return -1;
    if (ladder->count == 0)
        return 0;
    read_objective(ladder, view);
    ladder->trials = view->row.trials;
    ladder->last = mem_array((size_t)ladder->trials + 1, sizeof(*ladder->last));
    if (store_each_observation(view->store, view->row.id, 0, on_observation,
                               ladder, err) < 0)
        return -1;
    return store_each_trial(view->store, &query, on_trial, ladder, err);
}

static const struct table_column rung_columns[] = {
    {"bracket", NULL, COLUMN_NUMBER, NULL},
    {"rung", NULL, COLUMN_NUMBER, NULL},
    {"resource", NULL, COLUMN_NUMBER, NULL},
    {"planned", NULL, COLUMN_NUMBER, NULL},
    {"reached", NULL, COLUMN_NUMBER, NULL},
    {"promoted", NULL, COLUMN_NUMBER, NULL},
    {"stopped", NULL, COLUMN_NUMBER, NULL},
    {"paused", NULL, COLUMN_NUMBER, NULL},
    {"running", NULL, COLUMN_NUMBER, NULL},
    {"cutoff", NULL, COLUMN_NUMBER, NULL},
};

static int add_line(struct document *document, const struct rung_line *line,
                    struct err *err)
{
    const struct value cells[ARRAY_LEN(rung_columns)] = {
        value_int(line->bracket),
        value_int(line->rung),
        value_int(line->resource),
        value_int_if(line->planned > 0, line->planned),
        value_int(line->reached),
        value_int(line->promoted),
        value_int(line->stopped),
        value_int(line->waiting),
        value_int(line->running),
        value_real_unless_nan(line->cutoff),
    };

    return document_row(document, cells, err);
}

static int add_lines(struct document *document,
                     const struct ladder_view *ladder, struct err *err)
{
    document_begin_list(document, "rungs", rung_columns,
                        ARRAY_LEN(rung_columns));
    for (size_t i = 0; i < ladder->count; i++) {
        if (add_line(document, &ladder->lines[i], err) < 0)
            return -1;
    }
    return document_end_list(document, err);
}

int schedule_view_add_rungs(struct document *document,
                            const struct run_view *view, struct err *err)
{
    struct ladder_view ladder = {0};
    int status;

    if (!view->row.is_scheduled)
        return 0;
    status = read_ladder(&ladder, view, err);
    if (status == 0 && ladder.count > 0)
        status = add_lines(document, &ladder, err);
    free(ladder.lines);
    free(ladder.last);
    return status;
}
