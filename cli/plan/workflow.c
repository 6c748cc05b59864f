/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of a workflow for people: counts, limits, graph, and commands in one
 * possible order. Copies that depend on a result are counted as unknown instead
 * of guessed.
 */
#include "cli/plan/workflow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/plan/cached.h"
#include "cli/plan/container.h"
#include "cli/plan/plan.h"
#include "cli/plan/shown.h"
#include "cli/show/jobs/workflow_drawing.h"
#include "cli/show/run/slurm_words.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/cache_forecast.h"

enum { STEPS_SHOWN = 40, NAME_COLUMNS_MAX = 32 };

/* -- How much -------------------------------------------------------------*/

struct totals {
    int64_t steps, finals, jobs, unknown;
};

static struct totals count_all(const struct workflow *workflow)
{
    struct totals totals = {0};

    for (size_t i = 0; i < workflow->step_count; i++) {
        int64_t copies = workflow_step_copies(&workflow->steps[i]);

        if (workflow->steps[i].kind == STEP_JOIN)
            continue;
        totals.steps++;
        totals.finals += workflow->flow_steps[i].is_final ? 1 : 0;
        totals.jobs += copies > 0 ? copies : 0;
        totals.unknown += copies < 0 ? 1 : 0;
    }
    return totals;
}

static void print_steps(const struct workflow *workflow)
{
    struct totals totals = count_all(workflow);

    printf("steps     %" PRId64, totals.steps);
    if (totals.finals > 0)
        printf(", %" PRId64 " of them at the end", totals.finals);
    printf("\njobs      %s%" PRId64, totals.unknown > 0 ? "at least " : "",
           totals.jobs);
    if (totals.unknown > 0)
        printf(" (the number of copies of %" PRId64 " step%s is not known yet)",
               totals.unknown, totals.unknown > 1 ? "s" : "");
    printf("\n");
}

static void print_limits(const struct workflow *workflow)
{
    const struct budget *budget = &workflow->common->budget;
    int64_t parallel = workflow_parallel(workflow);
    struct buf words = BUF_INIT;
    char text[32];

    slurm_word_list(&workflow->executors[0], NULL, &words);
    printf("runs      with the %s executor%s", workflow->executors[0].name,
           buf_text(&words));
    buf_clear(&words);
    if (parallel > 0)
        printf(", %" PRId64 " jobs at a time", parallel);
    if (budget->time_ms > 0) {
        units_format_duration(budget->time_ms, text, sizeof(text));
        printf(", at most %s", text);
    }
    printf("\n");
    for (size_t i = 0; i < workflow->pool_count; i++)
        printf("%s%s %" PRId64 "%s", i == 0 ? "pools     " : ", ",
               workflow->pools[i].name, workflow->pools[i].size,
               i + 1 == workflow->pool_count ? "\n" : "");
}

static void print_params(const struct workflow *workflow,
                         const struct mask *mask)
{
    struct buf text = BUF_INIT, line = BUF_INIT;

    for (size_t i = 0; i < workflow->param_count; i++) {
        const char *name = workflow->param_names[i];
        struct value value = shown_param(mask, name, &workflow->params[i]);

        buf_printf(&line, "%s%s=", i > 0 ? ", " : "", name);
        value_print(&value, &line);
    }
    text_escape(buf_text(&line), line.length, &text);
    if (text.length > 0)
        printf("params    %s\n", buf_text(&text));
    buf_clear(&line);
    buf_clear(&text);
}

/* -- What each does -------------------------------------------------------*/

/* The first line of what a step runs, with dots where there are more. */
static void add_action(const struct step *step, const struct mask *mask,
                       struct buf *out)
{
    struct buf whole = BUF_INIT;
    size_t first, length;
    char *shown;

    if (step->task.command != NULL)
        buf_add_string(&whole, template_source(step->task.command));
    else if (step->message != NULL)
        buf_printf(&whole, "fail: %s", template_source(step->message));
    else if (step->file != NULL)
        buf_printf(&whole, "smtune run %s", step->file);
    for (size_t i = 0; i < step->assignment_count; i++)
        buf_printf(&whole, " --set %s=%s", step->assignments[i].key,
                   template_source(step->assignments[i].value));
    shown = mask_show(mask, buf_text(&whole));
    length = strlen(shown);
    first = strcspn(shown, "\n");
    text_escape(shown, first, out);
    if (strspn(shown + first, "\n") < length - first)
        buf_add_string(out, " ...");
    free(shown);
    buf_clear(&whole);
}

static void print_container(const struct workflow *workflow,
                            const struct step *step, const struct mask *mask,
                            int columns)
{
    const struct template *conda = step->task.conda;
    struct buf text = BUF_INIT;

    plan_container_print(&step->task, workflow_executor(workflow, step), &text);
    if (text.length > 0) {
        printf("%6s  %-*s  in container ", "", columns, "");
        shown_print(mask, buf_text(&text));
        fputs("\n", stdout);
    }
    if (conda != NULL)
        printf("%6s  %-*s  in conda environment %s\n", "", columns, "",
               template_source(conda));
    buf_clear(&text);
}

static void print_cached(const struct workflow *workflow,
                         const struct cache_forecast *forecast, size_t step,
                         int columns)
{
    struct buf text = BUF_INIT, line = BUF_INIT;

    plan_cached_add_step(workflow, forecast, step, &text);
    text_escape(buf_text(&text), text.length, &line);
    if (line.length > 0)
        printf("%6s  %-*s  %s\n", "", columns, "", buf_text(&line));
    buf_clear(&line);
    buf_clear(&text);
}

static void print_cache(const struct workflow *workflow,
                        const struct cache_forecast *forecast)
{
    struct buf text = BUF_INIT;

    plan_cached_add_totals(workflow, forecast, &text);
    if (text.length > 0)
        printf("cache     %s\n", buf_text(&text));
    buf_clear(&text);
}

static int name_columns(const struct workflow *workflow)
{
    size_t columns = 0;

    for (size_t i = 0; i < workflow->step_count; i++) {
        size_t length = strlen(workflow->steps[i].name);

        if (length > columns && length <= NAME_COLUMNS_MAX)
            columns = length;
    }
    return (int)columns;
}

static void print_actions(const struct workflow *workflow,
                          const struct cache_forecast *forecast,
                          const struct mask *mask, const size_t *order,
                          size_t shown)
{
    size_t printed = 0, left = 0;
    int columns = name_columns(workflow);

    printf("\nsteps, in order\n");
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *step = &workflow->steps[order[i]];
        struct buf action = BUF_INIT;

        if (step->kind == STEP_JOIN)
            continue;
        if (printed == shown) {
            left++;
            continue;
        }
        add_action(step, mask, &action);
        printf("%6zu  %-*s  %s\n", ++printed, columns, step->name,
               buf_text(&action));
        print_container(workflow, step, mask, columns);
        print_cached(workflow, forecast, order[i], columns);
        buf_clear(&action);
    }
    if (left > 0)
        printf("        and %zu more (--trials N shows N steps)\n", left);
}

void plan_workflow_draw(const struct cli *cli, const struct workflow *workflow,
                        const char *format)
{
    struct workflow_drawing drawing;
    struct buf out = BUF_INIT;

    workflow_drawing_init(&drawing, cli, workflow);
    draw_find(format)(&drawing.drawing, &out);
    fwrite(buf_text(&out), 1, out.length, stdout);
    buf_clear(&out);
    workflow_drawing_clear(&drawing);
}

static void print_text(const struct cli *cli, const struct workflow *workflow,
                       const struct cache_forecast *forecast,
                       const struct mask *mask, const size_t *order,
                       size_t shown)
{
    printf("plan for  %s\n", workflow->name);
    print_steps(workflow);
    print_limits(workflow);
    print_params(workflow, mask);
    print_cache(workflow, forecast);
    printf("\n");
    plan_workflow_draw(cli, workflow, "text");
    print_actions(workflow, forecast, mask, order, shown);
}

static void print_json(const struct workflow *workflow,
                       const struct cache_forecast *forecast,
                       const struct mask *mask, const size_t *order)
{
    json_t *json = plan_workflow_json(workflow, forecast, mask, order);
    struct buf text = BUF_INIT;

    shown_json(mask, json);
    json_show_pretty(json, &text);
    fputs(buf_text(&text), stdout);
    json_decref(json);
    buf_clear(&text);
}

int plan_workflow_print(const struct cli *cli, const struct workflow *workflow,
                        const struct plan_order *order, struct err *err)
{
    struct cache_forecast *forecast;
    struct mask *mask;
    size_t *steps;

    if (plan_cached_read(cli, workflow, order->name, &forecast, err) != 0)
        return -1;
    mask = shown_mask(cli, workflow->common, workflow);
    steps = mem_array(workflow->step_count + 1, sizeof(*steps));
    graph_order(workflow->graph, steps);
    if (cli->output == OUTPUT_TABLE)
        print_text(cli, workflow, forecast, mask, steps,
                   order->shown > 0 ? (size_t)order->shown : STEPS_SHOWN);
    else
        print_json(workflow, forecast, mask, steps);
    mask_destroy(mask);
    cache_forecast_destroy(forecast);
    free(steps);
    return 0;
}
