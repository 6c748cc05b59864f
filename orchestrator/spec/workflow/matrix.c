/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/workflow/workflow_impl.h"
#include "workflows/matrix.h"

/* What a step has many of: the copies of its matrix, and rounds. */

/* A column of a step's own must not hide another. */
static int check_column(struct workflow_build *w, const struct conf_node *key,
                        const char *what)
{
    const struct expr_table *plain = &w->file->base.tables[0];

    if (!text_is_name(key->text))
        return diags_add(
            w->build.diags, key->place,
            "expected letters, digits and _ first, then . and - too",
            "'%s' is not a valid name for %s", key->text, what);
    for (size_t i = 0; i < plain->column_count; i++) {
        if (strcmp(plain->columns[i], key->text) != 0)
            continue;
        return diags_add(
            w->build.diags, key->place, NULL,
            i < w->workflow->param_count
                ? "duplicate name: a parameter has the name of %s '%s'"
                : "invalid name of %s: '%s' is reserved in expressions",
            what, key->text);
    }
    return 0;
}

/* The items of a list are values as they are. */
static void refuse_template(struct workflow_build *w,
                            const struct conf_node *item,
                            const struct matrix_axis *axis)
{
    if (item->type == CONF_TEXT && strstr(item->text, "${{") != NULL)
        diags_add(w->build.diags, item->place,
                  "make the axis itself a ${{ }} with a JSON list as its value",
                  "axis '%s': an item of a list cannot have a template",
                  axis->name);
}

static void read_list(struct workflow_build *w, const struct conf_node *list,
                      struct matrix_axis *axis)
{
    struct value *values = mem_array(list->count, sizeof(*values));

    build_take(w->build.file, values);
    axis->values = values;
    for (size_t i = 0; i < list->count; i++) {
        refuse_template(w, list->items[i], axis);
        if (experiment_read_value(&w->build, list->items[i],
                                  &values[axis->value_count]) == 0)
            axis->value_count++;
    }
    if (list->count == 0)
        diags_add(w->build.diags, list->place, NULL, "axis '%s' has no values",
                  axis->name);
}

static struct value range_value(double first, double step, size_t i,
                                bool is_whole)
{
    double number = first + step * (double)i;

    return is_whole ? value_int((int64_t)number) : value_real(number);
}

static int check_range(struct workflow_build *w, const struct conf_node *range,
                       const double *bounds)
{
    double count = floor((bounds[1] - bounds[0]) / bounds[2] + 1e-9) + 1;

    for (size_t i = 0; i < 3; i++)
        if (!isfinite(bounds[i]) || fabs(bounds[i]) > 0x1p53)
            return diags_add(w->build.diags, range->place, NULL,
                             "out of range: a range has numbers up to 2^53");
    if (bounds[2] == 0 || !(count >= 1))
        return diags_add(w->build.diags, range->place, NULL,
                         "the range has no values");
    if (count > MATRIX_COPIES_MAX)
        return diags_add(w->build.diags, range->place, NULL,
                         "out of range: the range has more than %d values",
                         MATRIX_COPIES_MAX);
    return (int)count;
}

static void read_range(struct workflow_build *w, const struct conf_node *range,
                       struct matrix_axis *axis)
{
    double bounds[3] = {0, 0, 1};
    bool is_whole = true;
    struct value *values;
    int count;

    if (range->type != CONF_LIST)
        return;
    if (range->count < 2 || range->count > 3) {
        diags_add(w->build.diags, range->place, NULL,
                  "write a range as [FROM, TO] or [FROM, TO, STEP]");
        return;
    }
    for (size_t i = 0; i < range->count; i++) {
        bounds[i] = conf_number(range->items[i]);
        is_whole = is_whole && bounds[i] == floor(bounds[i]);
    }
    count = check_range(w, range, bounds);
    if (count < 0)
        return;
    values = mem_array((size_t)count, sizeof(*values));
    axis->values = build_take(w->build.file, values);
    axis->value_count = (size_t)count;
    for (size_t i = 0; i < axis->value_count; i++)
        values[i] = range_value(bounds[0], bounds[2], i, is_whole);
}

static void read_path(struct workflow_build *w, const struct conf_node *path,
                      enum axis_kind kind, struct matrix_axis *axis)
{
    if (path->type != CONF_TEXT)
        return;
    if (strstr(path->text, "${{") != NULL)
        diags_add(w->build.diags, path->place, NULL,
                  "%s has no templates: '${{' in it has no value",
                  kind == AXIS_GLOB ? "a glob" : "the path of a file of lines");
    axis->kind = kind;
    axis->pattern = build_resolve_path(w->build.file, path->text);
}

static void read_pattern(struct workflow_build *w, const struct conf_node *map,
                         struct matrix_axis *axis)
{
    const struct conf_node *glob = conf_get(map, "glob");
    const struct conf_node *range = conf_get(map, "range");
    const struct conf_node *lines = conf_get(map, "lines");

    if ((glob != NULL) + (range != NULL) + (lines != NULL) != 1)
        diags_add(w->build.diags, map->place, NULL,
                  "missing key: axis '%s' requires 'glob', 'lines' or 'range'",
                  axis->name);
    else if (range != NULL)
        read_range(w, range, axis);
    else if (glob != NULL)
        read_path(w, glob, AXIS_GLOB, axis);
    else
        read_path(w, lines, AXIS_LINES, axis);
}

static void read_axis(struct workflow_build *w, const struct conf_node *node,
                      struct matrix_axis *axis)
{
    if (node->type == CONF_LIST)
        read_list(w, node, axis);
    else if (node->type == CONF_MAP)
        read_pattern(w, node, axis);
    else if (node->type == CONF_TEXT && strstr(node->text, "${{") != NULL)
        axis->kind = AXIS_SOURCE;
    else if (node->type == CONF_TEXT)
        diags_add(w->build.diags, node->place,
                  "write [VALUE, ...], {glob: ...}, {lines: ...}, {range: "
                  "...} or ${{ }}",
                  "type mismatch: axis '%s': expected a list, got '%s'",
                  axis->name, node->text);
}

int64_t workflow_copies(const struct step *step)
{
    int64_t copies = step->copies;

    for (size_t i = 0; i < step->axis_count; i++) {
        if (step->axes[i].kind != AXIS_VALUES)
            return 0;
        if (copies <= MATRIX_COPIES_MAX)
            copies *= (int64_t)step->axes[i].value_count;
    }
    return copies;
}

static void build_matrix(struct workflow_build *w, size_t index,
                         const struct conf_node *matrix)
{
    struct step *step = &w->workflow->steps[index];
    struct matrix_axis *axes = mem_array(matrix->count, sizeof(*axes));

    build_take(w->build.file, axes);
    step->axes = axes;
    step->axis_count = matrix->count;
    for (size_t i = 0; i < matrix->count; i++) {
        axes[i].name = matrix->keys[i]->text;
        check_column(w, matrix->keys[i], "an axis");
        read_axis(w, matrix->items[i], &axes[i]);
    }
    if (matrix->count == 0)
        diags_add(w->build.diags, matrix->place, NULL,
                  "the matrix has no axes");
    if (workflow_copies(step) > MATRIX_COPIES_MAX)
        diags_add(w->build.diags, matrix->place, NULL,
                  "out of range: the matrix has more than %d copies",
                  MATRIX_COPIES_MAX);
}

static void name_rounds(struct workflow_build *w, size_t index,
                        const struct conf_node *values)
{
    struct step *step = &w->workflow->steps[index];
    struct repeat_rule *repeat = &step->repeat;

    repeat->values = mem_array(values->count, sizeof(*repeat->values));
    build_take(w->build.file, repeat->values);
    repeat->value_count = values->count;
    for (size_t i = 0; i < values->count; i++) {
        const struct conf_node *key = values->keys[i];

        repeat->values[i].name = key->text;
        check_column(w, key, "a value of rounds");
        for (size_t j = 0; j < step->axis_count; j++)
            if (strcmp(step->axes[j].name, key->text) == 0)
                diags_add(w->build.diags, key->place, NULL,
                          "duplicate name '%s': an axis of the matrix has it",
                          key->text);
    }
}

void workflow_build_axes(struct workflow_build *w, size_t index)
{
    const struct conf_node *own = w->sources[index].own;
    const struct conf_node *matrix = conf_get(own, "matrix");
    const struct conf_node *copies = conf_get_key(own, "copies");
    const struct conf_node *values =
        conf_get(conf_get(own, "repeat"), "values");
    int64_t hosts = conf_read_int(own, "copies", 1);

    if (matrix != NULL && copies != NULL)
        diags_add(w->build.diags, copies->place, NULL,
                  "%s has both 'matrix' and 'copies': use one",
                  w->sources[index].what);
    if (hosts >= 1 && hosts <= MATRIX_COPIES_MAX)
        w->workflow->steps[index].copies = hosts;
    if (matrix != NULL && matrix->type == CONF_MAP) {
        w->workflow->steps[index].copies = 1;
        build_matrix(w, index, matrix);
    }
    if (values != NULL && values->type == CONF_MAP)
        name_rounds(w, index, values);
}

/* ---- expressions ---- */

bool workflow_is_of_job(const struct scope_column *column)
{
    return column->kind == COLUMN_AXIS || column->kind == COLUMN_ROUND ||
           (column->kind == COLUMN_OWN && column->index != OWN_RUN &&
            column->index != OWN_STEP);
}

static bool reads_job(const struct step *step, const struct expr *expr)
{
    for (size_t i = 0; i < step->scope.count; i++) {
        if (workflow_is_of_job(&step->scope.columns[i]) && expr_uses(expr, i))
            return true;
    }
    return false;
}

void workflow_build_sources(struct step_build *s)
{
    const struct conf_node *matrix = conf_get(s->source->own, "matrix");

    for (size_t i = 0; i < s->step->axis_count; i++) {
        /* made by build_matrix, and const for all others */
        struct matrix_axis *axis =
            (struct matrix_axis *)(uintptr_t)&s->step->axes[i];

        if (axis->kind != AXIS_SOURCE)
            continue;
        axis->source = workflow_compile(s, matrix->items[i], "matrix");
        if (axis->source != NULL && reads_job(s->step, axis->source))
            diags_add(s->w->build.diags, matrix->items[i]->place, NULL,
                      "axis '%s' depends on values of a single copy",
                      axis->name);
    }
}

static void read_growth(struct step_build *s, const struct conf_node *values,
                        size_t index)
{
    struct repeat_rule *repeat = &s->step->repeat;
    const struct conf_node *map = values->items[index];
    const struct conf_node *other = conf_get(map, "scales_with");
    struct round_value *value = &repeat->values[index];
    size_t i = 0;

    value->by_square_root =
        strcmp(conf_read_text(map, "by", "linear"), "sqrt") == 0;
    if (other->type != CONF_TEXT)
        return;
    while (i < repeat->value_count &&
           strcmp(repeat->values[i].name, other->text) != 0)
        i++;
    value->scales_with = i;
    if (i == repeat->value_count) {
        const char **names = mem_array(i, sizeof(*names));

        for (size_t j = 0; j < i; j++)
            names[j] = repeat->values[j].name;
        diags_add_unknown(s->w->build.diags, other->place, other->text, names,
                          i, "unknown value '%s' to follow", other->text);
        free(names);
    } else if (conf_get(values->items[i], "next") == NULL) {
        diags_add(s->w->build.diags, other->place, NULL,
                  "'%s' has no 'next' of its own to follow", other->text);
    }
    if (value->first.type != VALUE_INT && value->first.type != VALUE_REAL)
        diags_add(s->w->build.diags, map->place, NULL,
                  "type mismatch: '%s' must be a number to follow another",
                  value->name);
}

static void read_round_value(struct step_build *s,
                             const struct conf_node *values, size_t i)
{
    const struct conf_node *map = values->items[i];
    const struct conf_node *first = conf_get(map, "first");
    const struct conf_node *next = conf_get(map, "next");
    const struct conf_node *other = conf_get(map, "scales_with");
    struct round_value *value = &s->step->repeat.values[i];

    if (map->type != CONF_MAP || first == NULL ||
        experiment_read_value(&s->w->build, first, &value->first) != 0)
        return;
    if ((next != NULL) == (other != NULL)) {
        diags_add(s->w->build.diags, values->keys[i]->place, NULL,
                  "'%s' requires either 'next' or 'scales_with'", value->name);
        return;
    }
    if (next != NULL)
        value->next = workflow_compile(s, next, "next");
    else
        read_growth(s, values, i);
    if (next != NULL && conf_get(map, "by") != NULL)
        diags_add(s->w->build.diags, conf_get_key(map, "by")->place, NULL,
                  "key 'by' is not allowed beside 'next'");
}

void workflow_build_rounds(struct step_build *s)
{
    const struct conf_node *node = conf_get(s->source->own, "repeat");
    const struct conf_node *values = conf_get(node, "values");
    struct repeat_rule *repeat = &s->step->repeat;

    if (node == NULL || node->type != CONF_MAP)
        return;
    repeat->max = conf_read_int(node, "max", 1);
    s->knows_itself = true;
    repeat->until = workflow_compile(s, conf_get(node, "until"), "until");
    if (values != NULL && values->type == CONF_MAP)
        for (size_t i = 0; i < repeat->value_count; i++)
            read_round_value(s, values, i);
    s->knows_itself = false;
}
