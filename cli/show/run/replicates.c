/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/replicates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/show/run/trial_table.h"

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

/* Trials come by number, so that a setting's stand together. The sums are
 * those of B. P. Welford, "Note on a method for calculating corrected sums of
 * squares and products", Technometrics 4(3), 1962. */
static int add_trial(void *user, const struct trial_row *trial)
{
    struct settings *settings = user;
    int64_t index = (trial->number - 1) / settings->replicates;
    struct setting *setting;
    double change;

    if (trial->value_count == 0 || !isfinite(trial->values[0]) ||
        trial->violation > 0)
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

/* ---- showing ---- */

enum { ADDED = 2 };

struct showing {
    const struct cli *cli;
    struct trial_table table;
    struct table_column *columns; /* [count]: the table's, and ADDED more */
    struct value *cells;
    size_t count;
    struct output *output; /* of rows; NULL: one object */
    const struct setting *setting;
    struct err *err;
};

static void start(struct showing *showing, const struct run_view *view)
{
    trial_table_init(&showing->table, view, TRIAL_SETTING);
    showing->count = showing->table.count + ADDED;
    showing->columns = mem_array(showing->count, sizeof(*showing->columns));
    showing->cells = mem_array(showing->count, sizeof(*showing->cells));
    memcpy(showing->columns, showing->table.columns,
           showing->table.count * sizeof(*showing->columns));
    showing->columns[showing->table.count] =
        (struct table_column){"deviation", NULL, COLUMN_NUMBER, NULL};
    showing->columns[showing->table.count + 1] =
        (struct table_column){"replicates", NULL, COLUMN_NUMBER, NULL};
}

static void clear(struct showing *showing)
{
    trial_table_clear(&showing->table);
    free(showing->columns);
    free(showing->cells);
}

static int show_setting(void *user, const struct trial_row *trial)
{
    struct showing *showing = user;
    const struct setting *setting = showing->setting;
    struct value *added = showing->cells + showing->table.count;
    struct trial_row row = *trial;
    double deviation = sqrt(setting->squares / (double)(setting->count - 1));

    row.values = &setting->mean;
    memcpy(showing->cells, trial_table_cells(&showing->table, &row),
           showing->table.count * sizeof(*showing->cells));
    added[0] = setting->count > 1 ? value_real(deviation) : value_null();
    added[1] = value_int(setting->count);
    return showing->output != NULL
               ? output_row(showing->output, showing->cells, showing->err)
               : output_object(showing->cli, showing->columns, showing->cells,
                               showing->count, showing->err);
}

static int show(struct showing *showing, const struct run_view *view,
                const struct settings *settings, size_t shown)
{
    int status = 0;

    for (size_t i = 0; i < shown && status == 0; i++) {
        struct trial_query query = {.run = view->row.id,
                                    .number = settings->items[i].first};

        showing->setting = &settings->items[i];
        status = store_each_trial(view->store, &query, show_setting, showing,
                                  showing->err);
    }
    return status;
}

int replicates_show_best(const struct cli *cli, const struct run_view *view,
                         int64_t replicates, int64_t count, struct err *err)
{
    struct trial_query query = {.run = view->row.id, .state = "succeeded"};
    struct settings settings = {.replicates = replicates};
    struct showing showing = {.cli = cli, .err = err};
    bool maximize = strcmp(view->goals[0], "maximize") == 0;
    size_t shown = count > 0 ? (size_t)count : 1;
    int status =
        store_each_trial(view->store, &query, add_trial, &settings, err);

    if (settings.count > 0)
        qsort(settings.items, settings.count, sizeof(*settings.items),
              maximize ? greatest_first : smallest_first);
    start(&showing, view);
    if (count > 0)
        showing.output = output_create(cli, showing.columns, showing.count);
    if (status == 0)
        status = show(&showing, view, &settings,
                      shown < settings.count ? shown : settings.count);
    if (status == 0 && showing.output != NULL)
        status = output_finish(showing.output, err);
    else if (showing.output != NULL)
        output_destroy(showing.output);
    clear(&showing);
    free(settings.items);
    return status;
}
