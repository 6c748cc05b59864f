/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/scope_fill.h"

#include "orchestrator/spec/workflow/scope.h"

/* Of a job that is none of a step's. */
#define NO_STEP SIZE_MAX

static struct value own_value(const struct workflow *workflow,
                              const struct job_site *site,
                              enum own_column column)
{
    if (column == OWN_RUN)
        return value_text_or_null(site->run_name);
    if (column == OWN_FILE_DIR)
        return value_text(workflow->common->folder);
    if (site->step == NO_STEP)
        return value_null();
    switch (column) {
    case OWN_STEP:
        return value_text(workflow->steps[site->step].name);
    case OWN_COPY:
        return value_int(site->copy);
    case OWN_COPIES:
        return value_int(site->copies);
    case OWN_ROUND:
        return value_int(site->round);
    case OWN_DIR:
        return value_text_or_null(site->directory);
    case OWN_CHECKPOINT_DIR:
        return value_text_or_null(site->checkpoint_directory);
    case OWN_RUN:
    case OWN_FILE_DIR:
    case OWN_COLUMN_COUNT:
        break;
    }
    return value_null();
}

/* What it made itself, a job reads as its own, not as the list of all copies'.
 */
static struct value result_value(struct results *results,
                                 const struct job_site *site,
                                 const struct scope_column *column)
{
    if (column->step == site->step)
        return results_get_own(results, column->step, site->copy,
                               column->index);
    return results_get(results, column->step, column->index);
}

static void fill(const struct workflow *workflow, struct results *results,
                 const struct scope *scope, const struct job_site *site,
                 struct value *values)
{
    for (size_t i = 0; i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];

        values[i] = value_null();
        switch (column->kind) {
        case COLUMN_PARAM:
            values[i] = workflow->params[column->index];
            break;
        case COLUMN_AXIS:
            if (site->axes != NULL)
                values[i] = site->axes[column->index];
            break;
        case COLUMN_ROUND:
            if (site->rounds != NULL)
                values[i] = site->rounds[column->index];
            break;
        case COLUMN_OWN:
            values[i] =
                own_value(workflow, site, (enum own_column)column->index);
            break;
        case COLUMN_RESULT:
            values[i] = result_value(results, site, column);
            break;
        }
    }
}

void scope_fill(const struct workflow *workflow, struct results *results,
                const struct job_site *site, struct value *values)
{
    fill(workflow, results, &workflow->steps[site->step].scope, site, values);
}

void scope_fill_outputs(const struct workflow *workflow,
                        struct results *results, const char *run_name,
                        struct value *values)
{
    const struct job_site site = {.step = NO_STEP, .run_name = run_name};

    fill(workflow, results, &workflow->output_scope, &site, values);
}
