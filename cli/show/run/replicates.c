/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/replicates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/show/run/trial_columns.h"
#include "cli/term/document.h"

struct setting {
    int64_t index; /* in the order tried */
    int64_t first; /* the number of its first trial that counts */
    int64_t count;
    double mean, squares; /* of deviations from the mean, summed */
};

struct settings {
    int64_t replicates;
    struct setting *items;
    size_t count, capacity;
};

static bool counts(const struct trial_row *trial)
{
    return trial->value_count > 0 && isfinite(trial->values[0]) &&
           trial->violation <= 0;
}

/* Trials come by number, so that a setting's stand together. The sums are
 * those of B. P. Welford, "Note on a method for calculating corrected sums of
 * squares and products", Technometrics 4(3), 1962. */
static int add_trial(void *user, const struct trial_row *trial)
{
    struct settings *settings = user;
    int64_t index = (trial->number - 1) / settings->replicates;
    struct setting *setting;
    double change;

    if (!counts(trial))
        return 0;
    if (settings->count == 0 ||
        settings->items[settings->count - 1].index != index) {
        settings->items =
            mem_grow(settings->items, settings->count, &settings->capacity,
                     sizeof(*settings->items));
        settings->items[settings->count++] =
            (struct setting){.index = index, .first = trial->number};
    }
    setting = &settings->items[settings->count - 1];
    change = trial->values[0] - setting->mean;
    setting->count++;
    setting->mean += change / (double)setting->count;
    setting->squares += change * (trial->values[0] - setting->mean);
    return 0;
}

static int compare(const struct setting *a, const struct setting *b)
{
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    if (a->mean < b->mean || a->mean > b->mean)
        return a->mean < b->mean ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int smallest_first(const void *a, const void *b)
{
    return compare(a, b);
}

static int greatest_first(const void *a, const void *b)
{
    struct setting left = *(const struct setting *)a;
    struct setting right = *(const struct setting *)b;

    left.mean = -left.mean;
    right.mean = -right.mean;
    return compare(&left, &right);
}

static int read_settings(struct settings *settings, const struct run_view *view,
                         struct err *err)
{
    struct trial_query query = {
        .run = view->row.id, .state = "succeeded", .results_only = true};
    bool maximize = strcmp(view->goals[0], "maximize") == 0;
    int status;

    *settings = (struct settings){.replicates = view->row.repeats};
    status = store_each_trial(view->store, &query, add_trial, settings, err);
    if (status == 0 && settings->count > 0)
        qsort(settings->items, settings->count, sizeof(*settings->items),
              maximize ? greatest_first : smallest_first);
    return status;
}

int replicates_rank(const struct run_view *view, struct replicates_mean **means,
                    size_t *count, struct err *err)
{
    struct settings settings;
    int status = read_settings(&settings, view, err);

    *count = settings.count;
    *means = mem_array(settings.count, sizeof(**means));
    for (size_t i = 0; i < settings.count; i++)
        (*means)[i] = (struct replicates_mean){settings.items[i].first,
                                               settings.items[i].count,
                                               settings.items[i].mean};
    free(settings.items);
    return status;
}

/* ---- showing ---- */

struct sum {
    double total;
    int64_t count;
};

struct showing {
    const struct cli *cli;
    struct trial_columns columns;
    struct sum *sums; /* [columns.count]: of those that are averaged */
    size_t *places;   /* [count]: of the columns that are shown */
    struct table_column *shown;
    struct value *cells;
    size_t count;
    struct output *output;     /* of rows, or */
    struct document *document; /* a part of it, or neither: one object */
    const struct setting *setting;
    struct err *err;
};

static int start(struct showing *showing, const struct run_view *view,
                 const char *wanted, bool with_metrics)
{
    struct trial_columns *columns = &showing->columns;

    if (trial_columns_init(columns, view, TRIAL_MEAN, with_metrics,
                           showing->err) != 0 ||
        trial_columns_choose(columns, wanted, !with_metrics, &showing->places,
                             &showing->count) != 0)
        return -1;
    showing->sums = mem_array(columns->count, sizeof(*showing->sums));
    showing->shown = mem_array(showing->count, sizeof(*showing->shown));
    showing->cells = mem_array(showing->count, sizeof(*showing->cells));
    for (size_t i = 0; i < showing->count; i++)
        showing->shown[i] = columns->columns[showing->places[i]];
    return 0;
}

static void clear(struct showing *showing)
{
    output_destroy(showing->output);
    trial_columns_clear(&showing->columns);
    free(showing->sums);
    free(showing->places);
    free(showing->shown);
    free(showing->cells);
}

static bool is_averaged(const struct table_column *column)
{
    return column->group != NULL && (strcmp(column->group, "metrics") == 0 ||
                                     strcmp(column->group, "outcomes") == 0);
}

/* The cells are those of the setting's first trial. */
static int emit(struct showing *showing)
{
    const struct setting *setting = showing->setting;
    struct trial_columns *columns = &showing->columns;
    struct value *means = columns->cells + columns->table.means;
    double deviation = sqrt(setting->squares / (double)(setting->count - 1));

    for (size_t i = 0; i < columns->count; i++) {
        const struct sum *sum = &showing->sums[i];

        if (sum->count > 0)
            columns->cells[i] = value_real(sum->total / (double)sum->count);
        else if (strcmp(columns->columns[i].key, "value") == 0 &&
                 columns->columns[i].group == NULL)
            columns->cells[i] = value_real(setting->mean);
    }
    means[0] = setting->count > 1 ? value_real(deviation) : value_null();
    means[1] = value_int(setting->count);
    for (size_t i = 0; i < showing->count; i++)
        showing->cells[i] = columns->cells[showing->places[i]];
    if (showing->document != NULL)
        return document_fields(showing->document, "best", showing->shown,
                               showing->cells, showing->count, showing->err);
    return showing->output != NULL
               ? output_row(showing->output, showing->cells, showing->err)
               : output_object(showing->cli, showing->shown, showing->cells,
                               showing->count, showing->err);
}

/* The first trial comes last. */
static int add_member(void *user, const struct trial_row *trial)
{
    struct showing *showing = user;
    struct trial_columns *columns = &showing->columns;

    if (!counts(trial))
        return 0;
    if (trial_columns_fill(columns, trial) != 0)
        return -1;
    for (size_t i = 0; i < columns->count; i++) {
        const struct value *cell = &columns->cells[i];

        if (!is_averaged(&columns->columns[i]) || cell->type == VALUE_NULL)
            continue;
        showing->sums[i].total += value_number(cell);
        showing->sums[i].count++;
    }
    return trial->number == showing->setting->first ? emit(showing) : 0;
}

static int show_setting(struct showing *showing, const struct run_view *view,
                        const struct setting *setting)
{
    struct trial_query query = {.run = view->row.id, .state = "succeeded"};
    int status = 0;

    showing->setting = setting;
    memset(showing->sums, 0, showing->columns.count * sizeof(*showing->sums));
    query.number = (setting->index + 1) * view->row.repeats;
    for (; query.number >= setting->first && status == 0; query.number--)
        status = store_each_trial(view->store, &query, add_member, showing,
                                  showing->err);
    return status;
}

static int show(struct showing *showing, const struct run_view *view,
                size_t most)
{
    struct settings settings;
    int status = read_settings(&settings, view, showing->err);

    for (size_t i = 0; i < settings.count && i < most && status == 0; i++)
        status = show_setting(showing, view, &settings.items[i]);
    free(settings.items);
    return status;
}

int replicates_show_best(const struct cli *cli, const struct run_view *view,
                         const char *columns, int64_t count, struct err *err)
{
    struct showing showing = {.cli = cli, .err = err};
    struct output *output;
    int status = start(&showing, view, columns,
                       columns != NULL || cli->output != OUTPUT_TABLE);

    if (status == 0 && count > 0)
        showing.output = output_create(cli, showing.shown, showing.count);
    if (status == 0)
        status = show(&showing, view, count > 0 ? (size_t)count : 1);
    if (status == 0 && showing.output != NULL) {
        output = showing.output;
        showing.output = NULL;
        status = output_finish(output, err);
    }
    clear(&showing);
    return status;
}

int replicates_add_best(struct document *document, const struct run_view *view,
                        struct err *err)
{
    struct showing showing = {.document = document, .err = err};
    int status = start(&showing, view, NULL, false);

    if (status == 0)
        status = show(&showing, view, 1);
    clear(&showing);
    return status;
}
