/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/trial_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

static const struct table_column before[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
};

/* Of all attempts; and of the last one, for programs. */
static const struct table_column after[] = {
    {"started", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
    {"cause", NULL, COLUMN_TEXT, NULL},
    {"attempts", NULL, COLUMN_NUMBER, NULL},
    {"last_started", "last started", COLUMN_TIME, NULL},
    {"last_duration_ms", "last duration", COLUMN_DURATION, NULL},
};

/* Of a run with a schedule; used: by all attempts. */
static const struct table_column scheduled[] = {
    {"resource", NULL, COLUMN_NUMBER, NULL},
    {"used", NULL, COLUMN_NUMBER, NULL},
    {"bracket", NULL, COLUMN_NUMBER, NULL},
    {"rung", NULL, COLUMN_NUMBER, NULL},
    {"parent", NULL, COLUMN_NUMBER, NULL},
};

/* Of a setting that several trials evaluate. */
static const struct table_column means[] = {
    {"deviation", NULL, COLUMN_NUMBER, NULL},
    {"replicates", NULL, COLUMN_NUMBER, NULL},
};

static const struct table_column last_used = {"last_used", "last used",
                                              COLUMN_NUMBER, NULL};

enum { FOR_PROGRAMS = 2 };

static struct table_column *add_values(const struct run_view *view,
                                       struct table_column *column)
{
    bool one = view->objective_count == 1;

    for (size_t i = 0; i < view->objective_count; i++)
        *column++ = (struct table_column){one ? "value" : view->metrics[i],
                                          view->metrics[i], COLUMN_NUMBER,
                                          one ? NULL : "values[]"};
    return column;
}

/* Only for a run with constraints on outcomes. */
static bool shows_feasible(const struct run_view *view,
                           enum trial_detail detail)
{
    return view->outcome_count > 0 && detail == TRIAL_ALL;
}

static bool shows_schedule(const struct run_view *view,
                           enum trial_detail detail)
{
    return view->row.is_scheduled && detail == TRIAL_ALL;
}

static struct table_column *add_outcomes(const struct run_view *view,
                                         struct table_column *column)
{
    for (size_t i = 0; i < view->outcome_count; i++)
        *column++ = (struct table_column){view->outcomes[i].metric, NULL,
                                          COLUMN_NUMBER, "outcomes"};
    return column;
}

static size_t count_means(enum trial_detail detail)
{
    return detail == TRIAL_MEAN ? ARRAY_LEN(means) : 0;
}

void trial_table_init(struct trial_table *table, const struct run_view *view,
                      enum trial_detail detail)
{
    size_t fixed = detail == TRIAL_ALL ? ARRAY_LEN(before) + ARRAY_LEN(after)
                                       : 1 + count_means(detail);
    struct table_column *column;

    *table = (struct trial_table){.view = view, .detail = detail};
    table->count =
        fixed + view->objective_count + view->outcome_count +
        view->param_count + shows_feasible(view, detail) +
        (shows_schedule(view, detail) ? ARRAY_LEN(scheduled) + 1 : 0);
    table->columns = mem_array(table->count, sizeof(*table->columns));
    table->cells = mem_array(table->count, sizeof(*table->cells));
    column = table->columns;
    *column++ = before[0];
    if (detail == TRIAL_ALL)
        *column++ = before[1];
    column = add_values(view, column);
    table->means = (size_t)(column - table->columns);
    for (size_t i = 0; i < count_means(detail); i++)
        *column++ = means[i];
    if (shows_feasible(view, detail))
        *column++ = (struct table_column){"feasible", NULL, COLUMN_TEXT, NULL};
    for (size_t i = 0; shows_schedule(view, detail) && i < ARRAY_LEN(scheduled);
         i++)
        *column++ = scheduled[i];
    column = add_outcomes(view, column);
    for (size_t i = 0; i < view->param_count; i++)
        *column++ = (struct table_column){view->params[i], NULL, COLUMN_NUMBER,
                                          "params"};
    for (size_t i = 0; detail == TRIAL_ALL && i < ARRAY_LEN(after); i++)
        *column++ = after[i];
    if (shows_schedule(view, detail))
        *column++ = last_used;
    table->for_people = detail == TRIAL_ALL ? table->count - FOR_PROGRAMS -
                                                  shows_schedule(view, detail)
                                            : table->count;
}

void trial_table_clear(struct trial_table *table)
{
    free(table->columns);
    free(table->cells);
}

static struct value *fill_schedule(const struct trial_row *trial,
                                   struct value *cell)
{
    bool is_looked_at = trial->reached_rung >= 0;

    *cell++ = trial->reached > 0 ? value_int(trial->reached) : value_null();
    *cell++ = value_int_unless(trial->attempts.used, 0);
    *cell++ = trial->bracket >= 0 ? value_int(trial->bracket) : value_null();
    *cell++ = is_looked_at ? value_int(trial->reached_rung) : value_null();
    *cell++ = trial->parent > 0 ? value_int(trial->parent) : value_null();
    return cell;
}

/* Of a trial that did not succeed, NaN may stand for none. */
static struct value outcome_cell(const struct trial_row *trial, size_t i)
{
    if (i >= trial->outcome_count)
        return value_null();
    return strcmp(trial->state, "succeeded") == 0
               ? value_real(trial->outcomes[i])
               : value_real_unless_nan(trial->outcomes[i]);
}

const struct value *trial_table_cells(struct trial_table *table,
                                      const struct trial_row *trial)
{
    struct value *cell = table->cells;

    *cell++ = value_int(trial->number);
    if (table->detail == TRIAL_ALL)
        *cell++ = value_text(trial_state_now(table->view, trial));
    for (size_t i = 0; i < table->view->objective_count; i++)
        *cell++ = i < trial->value_count ? value_real(trial->values[i])
                                         : value_null();
    for (size_t i = 0; i < count_means(table->detail); i++)
        *cell++ = value_null();
    if (shows_feasible(table->view, table->detail))
        *cell++ = trial->value_count > 0 ? value_bool(trial->violation <= 0.0)
                                         : value_null();
    if (shows_schedule(table->view, table->detail))
        cell = fill_schedule(trial, cell);
    for (size_t i = 0; i < table->view->outcome_count; i++)
        *cell++ = outcome_cell(trial, i);
    for (size_t i = 0; i < table->view->param_count; i++)
        *cell++ = i < trial->param_count ? trial->params[i] : value_null();
    if (table->detail == TRIAL_ALL) {
        *cell++ = value_int(trial->attempts.first_started_ms);
        *cell++ = value_int(trial->ended_ms);
        *cell++ = value_int_unless(trial_ran_ms(table->view, trial), -1);
        *cell++ = value_text_or_null(trial->cause);
        *cell++ = value_int(trial->attempts.count);
        *cell++ = value_int(trial->attempts.last_started_ms);
        *cell++ = value_int_unless(trial_last_ran_ms(table->view, trial), -1);
    }
    if (shows_schedule(table->view, table->detail))
        *cell++ = value_int_unless(trial->attempts.last_used, 0);
    return table->cells;
}

void trial_table_fit_columns(struct trial_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->columns[i].type == COLUMN_NUMBER &&
            table->cells[i].type == VALUE_TEXT)
            table->columns[i].type = COLUMN_TEXT;
    }
}
