/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/trial_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static bool is_in_table(const struct run_view *view, const char *metric)
{
    for (size_t i = 0; i < view->objective_count; i++)
        if (strcmp(view->metrics[i], metric) == 0)
            return true;
    for (size_t i = 0; i < view->outcome_count; i++)
        if (strcmp(view->outcomes[i].metric, metric) == 0)
            return true;
    return false;
}

static int keep_metric(void *user, const char *name)
{
    struct trial_columns *columns = user;

    if (is_in_table(columns->view, name))
        return 0;
    columns->metrics =
        mem_grow(columns->metrics, columns->metric_count,
                 &columns->metric_capacity, sizeof(*columns->metrics));
    columns->metrics[columns->metric_count++] = mem_copy_string(name);
    return 0;
}

static char *full_name(const struct table_column *column)
{
    return mem_printf("%.*s.%s", (int)strcspn(column->group, "["),
                      column->group, column->key);
}

static void name_columns(struct trial_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct table_column *column = &columns->columns[i];
        bool is_shared = false;

        for (size_t k = 0; k < i && !is_shared; k++)
            is_shared = strcmp(columns->names[k], column->key) == 0;
        columns->names[i] = is_shared && column->group != NULL
                                ? full_name(column)
                                : mem_copy_string(column->key);
    }
}

int trial_columns_init(struct trial_columns *columns,
                       const struct run_view *view, enum trial_detail detail,
                       bool with_metrics, struct err *err)
{
    size_t fixed;

    *columns = (struct trial_columns){.view = view, .err = err};
    trial_table_init(&columns->table, view, detail);
    if (with_metrics && store_each_metric_name(view->store, view->row.id,
                                               keep_metric, columns, err) != 0)
        return -1;
    fixed = columns->table.count;
    columns->count = fixed + columns->metric_count;
    columns->columns = mem_array(columns->count, sizeof(*columns->columns));
    columns->names = mem_array(columns->count, sizeof(*columns->names));
    columns->cells = mem_array(columns->count + 1, sizeof(*columns->cells));
    memcpy(columns->columns, columns->table.columns,
           fixed * sizeof(*columns->columns));
    for (size_t i = 0; i < columns->metric_count; i++)
        columns->columns[fixed + i] = (struct table_column){
            columns->metrics[i], NULL, COLUMN_NUMBER, "metrics"};
    name_columns(columns);
    return 0;
}

void trial_columns_clear(struct trial_columns *columns)
{
    for (size_t i = 0; i < columns->metric_count; i++)
        free(columns->metrics[i]);
    for (size_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->metrics);
    free(columns->names);
    free(columns->columns);
    free(columns->cells);
    trial_table_clear(&columns->table);
}

const char *trial_columns_alias(const struct trial_columns *columns)
{
    const struct run_view *view = columns->view;

    if (view->objective_count != 1)
        return NULL;
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->names[i], view->metrics[0]) == 0)
            return NULL; /* a parameter, say */
    return view->metrics[0];
}

/* alias: trial_columns_alias(). */
static bool is_called(const struct trial_columns *columns, size_t i,
                      const char *alias, const char *name)
{
    char *full;
    bool is_same;

    if (strcmp(columns->names[i], name) == 0)
        return true;
    if (columns->columns[i].group == NULL)
        return alias != NULL && strcmp(alias, name) == 0 &&
               strcmp(columns->columns[i].key, "value") == 0;
    full = full_name(&columns->columns[i]);
    is_same = strcmp(full, name) == 0;
    free(full);
    return is_same;
}

int trial_columns_find(const struct trial_columns *columns, const char *name,
                       size_t *place)
{
    const char *alias = trial_columns_alias(columns);

    for (*place = 0; *place < columns->count; ++*place)
        if (is_called(columns, *place, alias, name))
            return 0;
    return text_unknown("column", name, (const char *const *)columns->names,
                        columns->count, ERR_USAGE, columns->err);
}

static size_t count_names(const char *names)
{
    size_t count = 1;

    for (; *names != '\0'; names++)
        count += *names == ',';
    return count;
}

static int find_named(const struct trial_columns *columns, char *names,
                      size_t *places, size_t *count)
{
    char *rest = names;
    const char *name;

    while ((name = strsep(&rest, ",")) != NULL) {
        if (*name == '\0')
            continue;
        if (trial_columns_find(columns, name, &places[*count]) != 0)
            return -1;
        ++*count;
    }
    return 0;
}

int trial_columns_choose(const struct trial_columns *columns,
                         const char *wanted, bool for_people, size_t **places,
                         size_t *count)
{
    size_t room = wanted != NULL ? count_names(wanted) : columns->count;
    char *names;
    int status;

    *places = mem_array(room, sizeof(**places));
    *count = 0;
    if (wanted != NULL) {
        names = mem_copy_string(wanted);
        status = find_named(columns, names, *places, count);
        free(names);
        return status;
    }
    for (size_t i = 0; i < columns->count; i++)
        if (i < columns->table.for_people || !for_people)
            (*places)[(*count)++] = i;
    return 0;
}

static int take_metric(void *user, const struct metric_row *metric)
{
    struct trial_columns *columns = user;

    for (size_t i = 0; i < columns->metric_count; i++) {
        if (strcmp(columns->metrics[i], metric->name) != 0)
            continue;
        columns->cells[columns->table.count + i] = value_real(metric->value);
        break;
    }
    return 0;
}

int trial_columns_fill(struct trial_columns *columns,
                       const struct trial_row *trial)
{
    const struct value *cells = trial_table_cells(&columns->table, trial);
    size_t fixed = columns->table.count;

    memcpy(columns->cells, cells, fixed * sizeof(*cells));
    for (size_t i = fixed; i <= columns->count; i++)
        columns->cells[i] = value_null();
    if (trial->value_count > 0)
        columns->cells[columns->count] = value_real(trial->values[0]);
    return columns->metric_count == 0
               ? 0
               : store_each_last_metric(columns->view->store, trial->job,
                                        take_metric, columns, columns->err);
}
