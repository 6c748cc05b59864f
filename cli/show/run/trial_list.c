/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trial passes through a row of steps: all its cells, the filter, then either
 * the output at once or, with a sort, a list that is printed at the end.
 * Without a sort nothing is kept, so the first of 100,000 trials is there at
 * once. Metrics are read only if a column, a filter or a format needs them.
 */
#include "cli/show/run/trial_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr/expr.h"
#include "base/mem.h"
#include "cli/show/run/trial_columns.h"

struct kept_row {
    struct value *cells; /* [count], with texts of their own */
    size_t sort, place;
    bool is_descending;
};

struct trial_list {
    const struct cli *cli;
    const struct trial_choice *choice;
    struct trial_columns all;
    struct table_column *shown; /* [shown_count] */
    struct value *shown_cells;
    size_t *places; /* [shown_count]: in cells */
    size_t shown_count;
    struct expr_env *env;
    struct expr *filter; /* NULL: none */
    size_t sort;         /* of columns; SIZE_MAX: none */
    bool is_descending;
    struct kept_row *rows;
    size_t row_count, row_capacity;
    struct output *output; /* made for the first row */
    int64_t printed;
    struct err *err;
};

enum { ENOUGH = 1 };

/* ---- what is shown, how it is sorted, which trials ---- */

static int choose_columns(struct trial_list *list)
{
    if (trial_columns_choose(&list->all, list->choice->columns,
                             list->cli->output == OUTPUT_TABLE, &list->places,
                             &list->shown_count) != 0)
        return -1;
    list->shown = mem_array(list->shown_count, sizeof(*list->shown));
    list->shown_cells =
        mem_array(list->shown_count, sizeof(*list->shown_cells));
    for (size_t i = 0; i < list->shown_count; i++)
        list->shown[i] = list->all.columns[list->places[i]];
    return 0;
}

static int choose_sort(struct trial_list *list)
{
    static const char behind[] = ":desc";
    const char *sort = list->choice->sort;
    size_t length, end = sizeof(behind) - 1;
    char *name;
    int status;

    list->sort = SIZE_MAX;
    if (sort == NULL)
        return 0;
    length = strlen(sort);
    list->is_descending =
        length > end && strcmp(sort + length - end, behind) == 0;
    name = mem_printf("%.*s",
                      (int)(list->is_descending ? length - end : length), sort);
    status = trial_columns_find(&list->all, name, &list->sort);
    free(name);
    return status;
}

static int compile_filter(struct trial_list *list)
{
    const struct trial_columns *all = &list->all;
    const char *alias = trial_columns_alias(all);
    const char **names = mem_array(all->count + 1, sizeof(*names));
    struct expr_table table = {.columns = names,
                               .column_count = all->count + (alias != NULL)};

    memcpy(names, all->names, all->count * sizeof(*names));
    names[all->count] = alias;
    list->env = expr_env_create(list->err);
    if (list->env != NULL)
        list->filter =
            expr_compile(list->env, list->choice->filter, &table, 1, list->err);
    free(names);
    if (list->filter != NULL)
        return 0;
    list->err->kind = ERR_USAGE;
    return err_prefix(list->err, "--filter");
}

/* ---- one trial ---- */

/* -1, or whether the filter lets the trial through. */
static int passes(struct trial_list *list)
{
    struct value result;

    if (list->filter == NULL)
        return 1;
    if (expr_eval(list->filter, list->all.cells, &result, list->err) != 0)
        return err_prefix(list->err, "--filter");
    return value_is_true(&result);
}

/* The record does not say which columns are words: the first row does. */
static void fit_columns(struct trial_list *list)
{
    for (size_t i = 0; i < list->shown_count; i++)
        if (list->shown[i].type == COLUMN_NUMBER &&
            list->shown_cells[i].type == VALUE_TEXT)
            list->shown[i].type = COLUMN_TEXT;
}

static void start(struct trial_list *list)
{
    fit_columns(list);
    list->output = output_create(list->cli, list->shown, list->shown_count);
    output_when_empty(list->output, "no trials");
}

static int print(struct trial_list *list, const struct value *cells)
{
    for (size_t i = 0; i < list->shown_count; i++)
        list->shown_cells[i] = cells[list->places[i]];
    list->printed++;
    if (list->choice->is_object)
        return output_object(list->cli, list->shown, list->shown_cells,
                             list->shown_count, list->err);
    if (list->output == NULL)
        start(list);
    return output_row(list->output, list->shown_cells, list->err);
}

static bool is_full(const struct trial_list *list)
{
    int64_t limit = list->choice->is_object ? 1 : list->choice->limit;

    return limit > 0 && list->printed >= limit;
}

/* ---- sorting ---- */

static void keep(struct trial_list *list)
{
    struct kept_row row = {
        .cells = mem_array(list->all.count, sizeof(*row.cells)),
        .sort = list->sort,
        .place = list->row_count,
        .is_descending = list->is_descending,
    };

    for (size_t i = 0; i < list->all.count; i++) {
        row.cells[i] = list->all.cells[i];
        if (row.cells[i].type == VALUE_TEXT)
            row.cells[i].text = mem_copy_string(row.cells[i].text);
    }
    list->rows = mem_grow(list->rows, list->row_count, &list->row_capacity,
                          sizeof(*list->rows));
    list->rows[list->row_count++] = row;
}

static void drop_rows(struct trial_list *list)
{
    for (size_t k = 0; k < list->row_count; k++) {
        for (size_t i = 0; i < list->all.count; i++)
            if (list->rows[k].cells[i].type == VALUE_TEXT)
                free((void *)(uintptr_t)list->rows[k].cells[i].text);
        free(list->rows[k].cells);
    }
    free(list->rows);
}

static bool is_nothing(const struct value *value)
{
    return value->type == VALUE_NULL ||
           (value->type == VALUE_REAL && isnan(value->real));
}

static int compare_values(const struct value *a, const struct value *b)
{
    double x, y;

    if (a->type == VALUE_TEXT && b->type == VALUE_TEXT)
        return strcmp(a->text, b->text);
    if (a->type == VALUE_TEXT || b->type == VALUE_TEXT)
        return a->type == VALUE_TEXT ? 1 : -1;
    x = value_number(a);
    y = value_number(b);
    return (x > y) - (x < y);
}

/* Rows without a value come last in both directions. */
static int compare_rows(const void *left, const void *right)
{
    const struct kept_row *a = left, *b = right;
    const struct value *x = &a->cells[a->sort], *y = &b->cells[b->sort];
    int order = is_nothing(x) - is_nothing(y);

    if (order == 0 && !is_nothing(x))
        order = a->is_descending ? compare_values(y, x) : compare_values(x, y);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static int print_sorted(struct trial_list *list)
{
    int status = 0;

    if (list->row_count > 0)
        qsort(list->rows, list->row_count, sizeof(*list->rows), compare_rows);
    for (size_t i = 0; i < list->row_count && status == 0 && !is_full(list);
         i++)
        status = print(list, list->rows[i].cells);
    return status;
}

/* ---- all ---- */

static int add(struct trial_list *list, const struct trial_row *trial)
{
    int status = trial_columns_fill(&list->all, trial);

    if (status == 0)
        status = passes(list);
    if (status <= 0)
        return status;
    if (list->sort != SIZE_MAX) {
        keep(list);
        return 0;
    }
    return print(list, list->all.cells);
}

static int on_trial(void *user, const struct trial_row *trial)
{
    struct trial_list *list = user;
    const struct trial_choice *choice = list->choice;
    enum trial_taken taken =
        choice->take != NULL ? choice->take(choice->user, trial) : TRIAL_TAKE;

    if (taken == TRIAL_END || is_full(list))
        return ENOUGH;
    return taken == TRIAL_SKIP ? 0 : add(list, trial);
}

static int finish(struct trial_list *list)
{
    struct output *output;

    if (list->choice->is_object)
        return 0;
    if (list->output == NULL)
        start(list);
    output = list->output;
    list->output = NULL;
    return output_finish(output, list->err);
}

static void clear(struct trial_list *list)
{
    output_destroy(list->output);
    drop_rows(list);
    expr_destroy(list->filter);
    expr_env_destroy(list->env);
    free(list->shown);
    free(list->shown_cells);
    free(list->places);
    trial_columns_clear(&list->all);
}

static bool needs_metrics(const struct cli *cli,
                          const struct trial_choice *choice)
{
    return cli->output != OUTPUT_TABLE || choice->columns != NULL ||
           choice->filter != NULL || choice->sort != NULL;
}

static int prepare(struct trial_list *list, const struct run_view *view)
{
    const struct trial_choice *choice = list->choice;
    int status =
        trial_columns_init(&list->all, view, choice->detail,
                           needs_metrics(list->cli, choice), list->err);

    if (status == 0)
        status = choose_columns(list);
    if (status == 0)
        status = choose_sort(list);
    if (status == 0 && choice->filter != NULL)
        status = compile_filter(list);
    return status;
}

int trial_list_print(const struct cli *cli, const struct run_view *view,
                     const struct trial_query *query,
                     const struct trial_choice *choice, struct err *err)
{
    struct trial_list list = {.cli = cli, .choice = choice, .err = err};
    struct trial_query asked = *query;
    int status = prepare(&list, view);

    asked.limit = 0;
    if (status == 0)
        status = store_each_trial(view->store, &asked, on_trial, &list, err);
    if (status == ENOUGH)
        status = 0;
    if (status == 0)
        status = print_sorted(&list);
    if (status == 0)
        status = finish(&list);
    clear(&list);
    return status;
}
