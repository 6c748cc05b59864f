/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/expr/template.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/*
 * What the expressions of a step may read: plain columns first, then the
 * results of those steps that they name, and of no others. A table is added
 * when its name is met first, behind those there are, so that what was compiled
 * before stays right. A step with nothing of its own to read has the scope of
 * all such steps, in place of one that would be equal.
 */

const char *const own_column_names[OWN_COLUMN_COUNT + 1] = {
#define X(symbol, word) [symbol] = word,
    OWN_COLUMNS(X)
#undef X
};

/* The table without a name. */
struct plain {
    const char **names;
    struct scope_column *columns;
    size_t count;
};

static void add_plain(struct plain *plain, const char *name,
                      enum column_kind kind, size_t index)
{
    plain->names[plain->count] = name;
    plain->columns[plain->count++] =
        (struct scope_column){.kind = kind, .index = index, .step = NO_STEP};
}

static struct plain begin(struct workflow_build *w, size_t room)
{
    struct plain plain = {
        .names = mem_array(room, sizeof(*plain.names)),
        .columns = mem_array(room, sizeof(*plain.columns)),
    };

    build_take(w->build.file, plain.names);
    for (size_t i = 0; i < w->workflow->param_count; i++)
        add_plain(&plain, w->workflow->param_names[i], COLUMN_PARAM, i);
    return plain;
}

static void end(struct scope *scope, const struct plain *plain)
{
    size_t directory = 0;

    while (directory < plain->count &&
           (plain->columns[directory].kind != COLUMN_OWN ||
            plain->columns[directory].index != OWN_DIR))
        directory++;
    scope->columns = plain->columns;
    scope->count = plain->count;
    scope->tables = mem_array(1, sizeof(*scope->tables));
    scope->tables[0] = (struct expr_table){
        .columns = plain->names,
        .column_count = plain->count,
        .directory = directory < plain->count ? directory + 1 : 0,
    };
    scope->table_count = 1;
}

void scope_build_base(struct workflow_build *w)
{
    struct plain plain = begin(w, w->workflow->param_count + OWN_COLUMN_COUNT);

    for (size_t i = 0; i < OWN_COLUMN_COUNT; i++)
        add_plain(&plain, own_column_names[i], COLUMN_OWN, i);
    end(&w->file->base, &plain);
}

void scope_build_step(struct workflow_build *w, size_t index)
{
    struct step *step = &w->workflow->steps[index];
    const struct scope *base = &w->file->base;
    size_t rounds = step->repeat.value_count;
    struct plain plain;

    step->scope = *base;
    if (step->axis_count + rounds == 0)
        return;
    plain = begin(w, base->count + step->axis_count + rounds);
    for (size_t i = 0; i < OWN_COLUMN_COUNT; i++)
        add_plain(&plain, own_column_names[i], COLUMN_OWN, i);
    for (size_t i = 0; i < step->axis_count; i++)
        add_plain(&plain, step->axes[i].name, COLUMN_AXIS, i);
    for (size_t i = 0; i < rounds; i++)
        add_plain(&plain, step->repeat.values[i].name, COLUMN_ROUND, i);
    end(&step->scope, &plain);
}

void scope_build_outputs(struct workflow_build *w)
{
    struct plain plain = begin(w, w->workflow->param_count + 1);

    add_plain(&plain, own_column_names[OWN_RUN], COLUMN_OWN, OWN_RUN);
    end(&w->workflow->output_scope, &plain);
}

void scope_release(const struct workflow_file *file, struct scope *scope)
{
    if (scope->tables == file->base.tables && scope != &file->base)
        return;
    free(scope->tables);
    free(scope->columns);
}

/* Memory of its own, for one that is about to grow. */
static void part_from_base(const struct scope *base, struct scope *scope)
{
    struct scope copy = *scope;

    if (scope->tables != base->tables)
        return;
    copy.tables =
        mem_copy_array(base->tables, base->table_count, sizeof(*copy.tables));
    copy.columns =
        mem_copy_array(base->columns, base->count, sizeof(*copy.columns));
    *scope = copy;
}

static void add_results(struct workflow_build *w, struct scope *scope,
                        size_t named)
{
    const struct step *step = &w->workflow->steps[named];

    for (size_t i = 1; i < scope->table_count; i++)
        if (scope->tables[i].table == step->name)
            return;
    part_from_base(&w->file->base, scope);
    scope->tables = mem_resize(scope->tables, scope->table_count + 1,
                               sizeof(*scope->tables));
    scope->tables[scope->table_count++] = (struct expr_table){
        .table = step->name,
        .columns = w->file->result_names[named],
        .column_count = step->result_count,
    };
    scope->columns =
        mem_resize(scope->columns, scope->count + step->result_count,
                   sizeof(*scope->columns));
    for (size_t i = 0; i < step->result_count; i++)
        scope->columns[scope->count++] = (struct scope_column){
            .kind = COLUMN_RESULT, .index = i, .step = named};
}

/* ---- names in texts ---- */

/* The place of `at` in the node's text. */
static struct diag_place place_of(const struct scope_reader *r, const char *at,
                                  size_t length)
{
    struct diag_place place = conf_place_at(r->w->build.file->doc, r->node, at);

    if (place.length == 1)
        place.length = (int)length;
    return place;
}

static bool may_read(const struct scope_reader *r, size_t named)
{
    if (r->step == NO_STEP)
        return true;
    if (r->step == named)
        return r->knows_itself;
    return workflow_is_needed(r->w, r->step, named);
}

static int refuse(const struct scope_reader *r, const char *at,
                  const char *name, int64_t named)
{
    struct workflow_build *w = r->w;
    struct diag_place place = place_of(r, at, strlen(name));

    if (named < 0)
        return workflow_refuse_step(w, place, name);
    if (r->step == (size_t)named)
        return diags_add(
            w->build.diags, place, NULL,
            "'%s' is the step itself: its results do not exist before "
            "it ends",
            name);
    return diags_add(w->build.diags, place, "add it to 'needs'",
                     "'%s' is not a step that '%s' needs", name,
                     w->workflow->steps[r->step].name);
}

/* The name behind the step's, without quotes. */
static char *column_name(const char *at, const struct expr_reference *reference)
{
    size_t length = reference->end - reference->offset;
    const char *dot = memchr(at + reference->table_length, '.',
                             length - reference->table_length);
    const char *start = dot + 1, *end = at + length;

    if (*start == '"') {
        start++;
        end--;
    }
    return mem_copy_bytes(start, (size_t)(end - start));
}

/* Of a step that names no metrics, an unknown name is most likely one. */
static int refuse_column(const struct scope_reader *r, struct diag_place place,
                         const char *column, size_t named)
{
    const struct workflow_build *w = r->w;
    const struct step *step = &w->workflow->steps[named];
    const struct step_source *source = &w->sources[named];
    const char *const *names = w->file->result_names[named];
    char *help;

    if (step->kind != STEP_TASK || step->metric_count > 0 ||
        step->output_count > 0 ||
        text_nearest(column, names, step->result_count) != NULL)
        return diags_add_unknown(
            w->build.diags, place, column, names, step->result_count,
            "unknown output or metric: %s has no '%s'", source->what, column);
    help = strncmp(column, "metrics.", 8) == 0
               ? mem_printf("write %s.%s, and add 'metrics: [%s]' to %s",
                            step->name, column + 8, column + 8, source->what)
               : mem_printf("add 'metrics: [%s]' to %s, if it prints %s",
                            column, source->what, column);
    diags_add(w->build.diags, place, help,
              "unknown output or metric: %s has no '%s'", source->what, column);
    free(help);
    return -1;
}

/* An output or metric, which is missing where the step has failed. */
static void note_read(const struct scope_reader *r, size_t named,
                      enum result_kind kind)
{
    struct step_source *source;

    if (kind == RESULT_STATE || kind == RESULT_COUNT || r->step == NO_STEP ||
        r->step == named)
        return;
    source = &r->w->sources[r->step];
    for (size_t i = 0; i < source->read_count; i++)
        if (source->reads[i] == named)
            return;
    source->reads = mem_resize(source->reads, source->read_count + 1,
                               sizeof(*source->reads));
    source->reads[source->read_count++] = named;
}

static int check_column(const struct scope_reader *r, const char *at,
                        const struct expr_reference *reference, size_t named)
{
    const struct step *step = &r->w->workflow->steps[named];
    const char *const *names = r->w->file->result_names[named];
    char *column;
    size_t i = 0;
    int rc = 0;

    if (names == NULL)
        return -1;
    column = column_name(at, reference);
    while (i < step->result_count && strcmp(names[i], column) != 0)
        i++;
    if (i == step->result_count)
        rc = refuse_column(r,
                           place_of(r, at, reference->end - reference->offset),
                           column, named);
    else
        note_read(r, named, step->results[i].kind);
    free(column);
    return rc;
}

static int admit(const struct scope_reader *r, const char *at,
                 const struct expr_reference *reference)
{
    struct workflow_build *w = r->w;
    struct scope *scope = r->step != NO_STEP
                              ? &w->workflow->steps[r->step].scope
                              : &w->workflow->output_scope;
    char *name = mem_copy_bytes(reference->table, reference->table_length);
    int64_t named = workflow_find(w->workflow, name);
    int rc = 0;

    if (named >= 0 && w->sources[named].name == NULL)
        named = -1;
    if (named < 0 || !may_read(r, (size_t)named))
        rc = refuse(r, at, name, named);
    else
        rc = check_column(r, at, reference, (size_t)named);
    if (rc == 0)
        add_results(w, scope, (size_t)named);
    free(name);
    return rc;
}

static int admit_all(const struct scope_reader *r, const char *start,
                     size_t length)
{
    char *text = mem_copy_bytes(start, length);
    struct expr_reference reference;
    size_t from = 0;
    int rc = 0;

    for (; expr_find_reference(text, from, &reference); from = reference.end)
        rc |= admit(r, start + reference.offset, &reference);
    free(text);
    return rc;
}

int scope_admit(const struct scope_reader *r)
{
    const char *text = r->node->text;
    size_t length;
    int rc = 0;

    if (r->is_bare && strstr(text, "${{") == NULL)
        return admit_all(r, text, strlen(text));
    while ((text = template_find_expression(text, &length)) != NULL) {
        rc |= admit_all(r, text, length);
        text += length;
    }
    return rc;
}
