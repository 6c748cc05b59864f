/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outcome of an experiment for people: head, best trials, plot, next
 * commands. Everything is read from the record, so that a summary after a crash
 * and resume is complete. Which commands are proposed depends on what is
 * useful: logs of a failed trial, a retry if nothing succeeded.
 */
#include "cli/drive/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/failed_jobs.h"
#include "cli/drive/hint.h"
#include "cli/show/run/front_view.h"
#include "cli/show/run/replicates.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"
#include "cli/term/plot.h"
#include "cli/term/term.h"
#include "store/store.h"

enum { BEST_SHOWN = 5, PLOT_ROWS = 9, PLOT_COLUMNS_MAX = 100 };

enum { ENOUGH = 1 };

/* The run's row, kept. */
struct summary {
    const struct cli *cli;
    struct store *store;
    int64_t run;
    char *name, *state, *reason;
    int64_t started_ms, ended_ms;
    int64_t trials, succeeded, nonfinite, infeasible, failed, stopped;
    int64_t cancelled, running;
    int64_t best_trial; /* 0: none */
    int64_t repeats;    /* of a setting; 0: 1 */
    char **params;
    char **metrics, **goals;
    char **outcomes; /* the metrics of constraints, NULL-ended */
    size_t outcome_count;
    int64_t first_failed; /* a trial's number, 0: none */
};

static size_t count_names(char **names)
{
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    return count;
}

static int keep_run(void *user, const struct run_row *row)
{
    struct summary *summary = user;

    summary->name = mem_copy_string(row->name);
    summary->state = mem_copy_string(row->state);
    summary->reason = mem_copy_string(row->reason != NULL ? row->reason : "");
    summary->started_ms =
        row->started_ms > 0 ? row->started_ms : row->created_ms;
    summary->ended_ms = row->ended_ms;
    summary->trials = row->trials;
    summary->succeeded = row->succeeded;
    summary->nonfinite = row->nonfinite;
    summary->infeasible = row->infeasible;
    summary->best_trial = row->best_trial;
    summary->repeats = row->repeats;
    summary->failed = row->failed;
    summary->stopped = row->stopped;
    summary->cancelled = row->cancelled;
    summary->running = row->running;
    return 0;
}

static int keep_failed(void *user, const struct trial_row *trial)
{
    ((struct summary *)user)->first_failed = trial->number;
    return 0;
}

static int keep_outcome(void *user, const struct outcome_bounds *outcome)
{
    struct summary *summary = user;
    size_t n = summary->outcome_count;

    summary->outcomes =
        mem_resize(summary->outcomes, n + 2, sizeof(*summary->outcomes));
    summary->outcomes[n] = mem_copy_string(outcome->metric);
    summary->outcomes[n + 1] = NULL;
    summary->outcome_count++;
    return 0;
}

static int load(struct summary *summary, struct err *err)
{
    const struct trial_query failed = {
        .run = summary->run, .state = "failed", .limit = 1};

    if (store_get_run(summary->store, summary->run, keep_run, summary, err) !=
        0)
        return -1;
    summary->params = store_run_params(summary->store, summary->run, err);
    summary->metrics = store_run_objectives(summary->store, summary->run,
                                            &summary->goals, err);
    if (summary->params == NULL || summary->metrics == NULL ||
        store_each_outcome(summary->store, summary->run, keep_outcome, summary,
                           err) != 0)
        return -1;
    return store_each_trial(summary->store, &failed, keep_failed, summary, err);
}

static void clear(struct summary *summary)
{
    free(summary->name);
    free(summary->state);
    free(summary->reason);
    store_free_names(summary->params);
    store_free_names(summary->metrics);
    store_free_names(summary->goals);
    store_free_names(summary->outcomes);
}

/* ---- how it ended ---- */

static void print_head(const struct summary *summary)
{
    bool colour = summary->cli->colour_out;
    int64_t end = summary->ended_ms > 0 ? summary->ended_ms : clock_wall_ms();
    struct buf shown = BUF_INIT;
    char took[32];

    units_format_duration(end - summary->started_ms, took, sizeof(took));
    printf("run %s%s%s: %s%s%s after %s, %" PRId64 " trial%s",
           term_style(STYLE_BOLD, colour), summary->name,
           term_style(STYLE_PLAIN, colour),
           term_style(term_state_style(summary->state), colour), summary->state,
           term_style(STYLE_PLAIN, colour), took, summary->trials,
           summary->trials == 1 ? "" : "s");
    printf(" (%" PRId64 " succeeded", summary->succeeded);
    if (summary->infeasible > 0)
        printf(", %" PRId64 " of them infeasible", summary->infeasible);
    if (summary->nonfinite > 0)
        printf(", %" PRId64 " " STATE_NONFINITE, summary->nonfinite);
    if (summary->failed > 0)
        printf(", %" PRId64 " failed", summary->failed);
    if (summary->stopped > 0)
        printf(", %" PRId64 " stopped", summary->stopped);
    if (summary->cancelled > 0)
        printf(", %" PRId64 " cancelled", summary->cancelled);
    if (summary->running > 0)
        printf(", %" PRId64 " running", summary->running);
    puts(")");
    if (summary->reason[0] != '\0')
        printf("%s\n", term_shown(summary->reason, &shown));
    buf_clear(&shown);
}

/* ---- the best trials ---- */

struct best_table {
    struct output *output;
    struct value *cells;
    size_t objectives, outcomes, params;
    bool only_feasible;
    struct err *err;
};

static int add_best(void *user, const struct trial_row *trial)
{
    struct best_table *table = user;
    struct value *cell = table->cells;

    if (table->only_feasible && trial->violation > 0.0)
        return ENOUGH;
    *cell++ = value_int(trial->number);
    for (size_t i = 0; i < table->objectives; i++)
        *cell++ = i < trial->value_count ? value_real(trial->values[i])
                                         : value_null();
    for (size_t i = 0; i < table->outcomes; i++)
        *cell++ = i < trial->outcome_count ? value_real(trial->outcomes[i])
                                           : value_null();
    *cell++ = value_int_if(trial->attempts.count > 0, trial->attempts.ran_ms);
    for (size_t i = 0; i < table->params; i++)
        *cell++ = i < trial->param_count ? trial->params[i] : value_null();
    return output_row(table->output, table->cells, table->err);
}

static struct table_column *best_columns(const struct summary *summary,
                                         const struct best_table *table,
                                         size_t count)
{
    struct table_column *columns = mem_array(count, sizeof(*columns));
    struct table_column *column = columns;

    *column++ = (struct table_column){"trial", NULL, COLUMN_NUMBER, NULL};
    for (size_t i = 0; i < table->objectives; i++)
        *column++ = (struct table_column){summary->metrics[i], NULL,
                                          COLUMN_NUMBER, NULL};
    for (size_t i = 0; i < table->outcomes; i++)
        *column++ = (struct table_column){summary->outcomes[i], NULL,
                                          COLUMN_NUMBER, NULL};
    *column++ = (struct table_column){"took", NULL, COLUMN_DURATION, NULL};
    for (size_t i = 0; i < table->params; i++)
        *column++ = (struct table_column){summary->params[i], NULL,
                                          COLUMN_NUMBER, NULL};
    return columns;
}

/* Numbers stand at the right, words at the left: the best trial shows which. */
static int choose_type(void *user, const struct trial_row *trial)
{
    struct table_column *column = user;

    for (size_t i = 0; i < trial->param_count; i++) {
        if (trial->params[i].type == VALUE_TEXT)
            column[i].type = COLUMN_TEXT;
    }
    return 0;
}

static int print_best(const struct summary *summary, struct err *err)
{
    struct trial_query query = {.run = summary->run,
                                .order = ORDER_BEST,
                                .state = "succeeded",
                                .limit = 1};
    struct best_table table = {.err = err,
                               .outcomes = summary->outcome_count,
                               .only_feasible = summary->best_trial > 0};
    struct cli cli = *summary->cli;
    struct table_column *columns;
    size_t count;
    int result;

    table.objectives = count_names(summary->metrics);
    table.params = count_names(summary->params);
    count = table.objectives + table.outcomes + table.params + 2;
    columns = best_columns(summary, &table, count);
    table.cells = mem_array(count, sizeof(*table.cells));
    cli.output = OUTPUT_TABLE;
    puts(table.only_feasible || summary->infeasible == 0
             ? "\nbest trials:"
             : "\n"
               "no trial satisfies the constraints on metrics; the "
               "closest:");
    result = store_each_trial(summary->store, &query, choose_type,
                              columns + count - table.params, err);
    table.output = output_create(&cli, columns, count);
    query.limit = BEST_SHOWN;
    if (result == 0)
        result =
            store_each_trial(summary->store, &query, add_best, &table, err);
    if (result >= 0)
        result = output_finish(table.output, err);
    else
        output_destroy(table.output);
    free(table.cells);
    free(columns);
    return result;
}

/* ---- the plot ---- */

struct points {
    struct plot_point *items;
    size_t count, capacity;
};

static void keep_point(struct points *points, int64_t trial, double value)
{
    points->items = mem_grow(points->items, points->count, &points->capacity,
                             sizeof(*points->items));
    points->items[points->count++] = (struct plot_point){trial, value};
}

static int add_point(void *user, const struct trial_row *trial)
{
    struct points *points = user;

    if (trial->value_count == 0 || trial->violation > 0.0)
        return 0;
    keep_point(points, trial->number, trial->values[0]);
    return 0;
}

static void show_plot(const struct summary *summary,
                      const struct points *points, const char *metric)
{
    struct plot_style style = {TERM_DEFAULT_COLUMNS, PLOT_ROWS, term_is_utf8(),
                               summary->cli->colour_out};
    struct buf text = BUF_INIT;
    int columns =
        summary->cli->out_is_terminal ? term_columns(STDOUT_FILENO) : 0;

    if (columns > 0)
        style.columns = columns < PLOT_COLUMNS_MAX ? columns : PLOT_COLUMNS_MAX;
    plot_best_so_far(points->items, points->count, metric,
                     strcmp(summary->goals[0], "maximize") == 0, style, &text);
    printf("\n%s", buf_text(&text));
    buf_clear(&text);
}

static int print_plot(const struct summary *summary, struct err *err)
{
    const struct trial_query query = {
        .run = summary->run, .order = ORDER_NUMBER, .state = "succeeded"};
    struct points points = {NULL, 0, 0};
    int result =
        store_each_trial(summary->store, &query, add_point, &points, err);

    if (result == 0 && points.count > 1)
        show_plot(summary, &points, summary->metrics[0]);
    free(points.items);
    return result;
}

/* ---- settings that several trials evaluate ---- */

static int by_trial(const void *left, const void *right)
{
    const struct plot_point *a = left, *b = right;

    return (a->trial > b->trial) - (a->trial < b->trial);
}

/* Of settings with all of their trials. */
static int plot_means(const struct summary *summary,
                      const struct run_view *view, struct err *err)
{
    struct replicates_mean *means = NULL;
    struct points points = {NULL, 0, 0};
    size_t count;
    char *metric = mem_printf("mean %s", summary->metrics[0]);
    int result = replicates_rank(view, &means, &count, err);

    for (size_t i = 0; i < count; i++)
        if (means[i].count == view->row.repeats)
            keep_point(&points, means[i].first, means[i].mean);
    if (points.count > 1) {
        qsort(points.items, points.count, sizeof(*points.items), by_trial);
        show_plot(summary, &points, metric);
    }
    free(points.items);
    free(metric);
    free(means);
    return result;
}

static int print_best_settings(const struct summary *summary, struct err *err)
{
    struct cli cli = *summary->cli;
    struct run_view view;
    int result = run_view_open(&view, &cli, summary->name, err);

    cli.output = OUTPUT_TABLE;
    puts("\nbest settings:");
    if (result == 0)
        result = replicates_show_best(&cli, &view, NULL, BEST_SHOWN, err);
    if (result == 0)
        result = plot_means(summary, &view, err);
    run_view_close(&view);
    return result;
}

/* ---- several objectives ---- */

static int print_front(const struct summary *summary, struct err *err)
{
    struct cli cli = *summary->cli;
    struct front_view *front = NULL;
    struct run_view view;
    int result = run_view_open(&view, &cli, summary->name, err);

    cli.output = OUTPUT_TABLE;
    if (result == 0) {
        front = front_view_create(&view, err);
        result = front != NULL ? 0 : -1;
    }
    if (result == 0) {
        putchar('\n');
        front_view_print_size(front, stdout);
        result = front_view_print(front, &cli, BEST_SHOWN, NULL, err);
    }
    if (result == 0)
        front_view_plot(front, &cli);
    front_view_destroy(front);
    run_view_close(&view);
    return result;
}

/* ---- none succeeded ---- */

static int print_failed(const struct summary *summary, struct err *err)
{
    struct run_view view;
    char *first = NULL;
    int result = run_view_open(&view, summary->cli, summary->name, err);

    fflush(stdout);
    if (result == 0)
        result = failed_jobs_print(&view, NULL, 1, &first, err);
    free(first);
    run_view_close(&view);
    return result;
}

/* ---- what to do next ---- */

static void print_hint(const struct summary *summary, const char *verb,
                       const char *operands, const char *what)
{
    hint_print(summary->cli, verb, summary->name, operands, what);
}

static void print_next(const struct summary *summary)
{
    char trial[32];

    fflush(stdout);
    fprintf(stderr, "\n%snext:%s\n",
            term_style(STYLE_BOLD, summary->cli->colour_err),
            term_style(STYLE_PLAIN, summary->cli->colour_err));
    if (strcmp(summary->state, "stopped") == 0)
        print_hint(summary, "resume", "", "continue the run");
    if (summary->first_failed > 0) {
        snprintf(trial, sizeof(trial), " %" PRId64, summary->first_failed);
        print_hint(summary, "logs", trial, "output of a failed trial");
    }
    if (summary->first_failed > 0 && summary->succeeded == 0)
        print_hint(summary, "retry", " --failed", "after you fix the cause");
    if (summary->succeeded > 0)
        print_hint(summary, "best", "",
                   "the best setting (-o json for programs)");
    print_hint(summary, "trials", "", "every trial");
    print_hint(summary, "show", "", "details of the run");
    if (summary->succeeded > 0)
        print_hint(summary, "export", " --format csv", "all trials as a table");
}

static int print_results(const struct summary *summary, struct err *err)
{
    int result;

    if (summary->metrics[1] != NULL && summary->best_trial > 0)
        return print_front(summary, err);
    if (summary->repeats > 1 && summary->best_trial > 0)
        return print_best_settings(summary, err);
    result = print_best(summary, err);
    return result == 0 ? print_plot(summary, err) : result;
}

int summary_print(const struct cli *cli, struct store *store, int64_t run,
                  struct err *err)
{
    struct summary summary = {.cli = cli, .store = store, .run = run};
    int result = load(&summary, err);

    if (result == 0)
        print_head(&summary);
    if (result == 0 && summary.succeeded > 0)
        result = print_results(&summary, err);
    else if (result == 0 && summary.failed > 0)
        result = print_failed(&summary, err);
    if (result == 0 && !cli->quiet)
        print_next(&summary);
    clear(&summary);
    return result;
}
