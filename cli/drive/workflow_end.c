/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outcome of a workflow's run: its steps, their outputs, and what to do
 * next. Outputs come from the jobs that count. A job from before a retry of its
 * step has a number below the step's first job and is left out. Rows are
 * limited for people and complete for programs.
 */
#include "cli/drive/workflow_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/failed_jobs.h"
#include "cli/drive/hint.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"
#include "cli/term/term.h"
#include "orchestrator/job/outputs.h"
#include "orchestrator/job/states.h"
#include "orchestrator/steps/cache.h"
#include "orchestrator/steps/child_run.h"
#include "store/store.h"

enum {
    ROWS_SHOWN = 60,
    FAILED_SHOWN = 3,
    GAVE_BYTES = 120 /* of what a step gave, in the table */
};

struct ending {
    const struct cli *cli;
    const struct run_view *view;
    struct run_steps steps;
    json_t **gave;      /* [steps.list.count] of a step's job, or of its copies
                           a list; NULL: nothing */
    char **warnings;    /* [steps.list.count] of the cache; NULL: none */
    bool *has_temps;    /* [steps.list.count] that were not removed */
    json_t *outputs;    /* the workflow's own, or NULL */
    char *first_failed; /* a job's name, or NULL */
    struct err *err;
};

/* ---- what the steps gave ---- */

/* The first of a step's jobs'. */
static void keep_warning(const struct ending *ending,
                         const struct trial_row *job, const json_t *outputs)
{
    const char *text =
        json_string_value(json_object_get(outputs, CACHE_WARNING));
    char **warning = &ending->warnings[job->step];

    if (text != NULL && *warning == NULL)
        *warning = mem_copy_string(text);
}

/* How many of its temporary outputs were there: a cache hit may lack some. */
static size_t count_temps(const struct step *step, const json_t *outputs)
{
    size_t count = 0;

    for (size_t i = 0; i < step->output_count; i++)
        count += step->outputs[i].is_temp;
    return count - json_array_size(json_object_get(outputs, CACHE_MISSING));
}

/* Temporary outputs that a retry may need; --touch removes none. */
static void note_temps(const struct ending *ending, const struct trial_row *job,
                       const json_t *outputs)
{
    const struct workflow *workflow = ending->steps.spec.workflow;

    if (workflow != NULL && !workflow->is_touched &&
        job->temps_removed_ms == 0 &&
        count_temps(&workflow->steps[job->step], outputs) > 0)
        ending->has_temps[job->step] = true;
}

static int take_outputs(void *user, const struct trial_row *job)
{
    struct ending *ending = user;
    json_t *outputs = job->outputs != NULL
                          ? json_parse(job->outputs, strlen(job->outputs), NULL)
                          : NULL;
    json_t **gave;

    if (outputs == NULL || job->step < 0 ||
        (size_t)job->step >= ending->steps.list.count ||
        job->number < ending->steps.list.lines[job->step].first_job) {
        json_decref(outputs);
        return 0;
    }
    keep_warning(ending, job, outputs);
    note_temps(ending, job, outputs);
    json_object_del(outputs, CACHE_HASHES);
    json_object_del(outputs, CACHE_PARTS);
    json_object_del(outputs, CACHE_MISSING);
    json_object_del(outputs, CACHE_NOTE);
    json_object_del(outputs, CACHE_WARNING);
    gave = &ending->gave[job->step];
    if (!ending->steps.list.lines[job->step].is_many) {
        json_decref(*gave);
        *gave = outputs;
        return 0;
    }
    if (*gave == NULL)
        *gave = json_array();
    while (json_array_size(*gave) <= (size_t)job->copy)
        json_array_append_new(*gave, json_null());
    json_array_set_new(*gave, (size_t)job->copy, outputs);
    return 0;
}

static int load(struct ending *ending)
{
    const struct run_view *view = ending->view;
    const struct trial_query query = {
        .run = view->row.id,
        .order = ORDER_NUMBER,
        .state = job_state_names[JOB_SUCCEEDED],
        .results_only = true,
    };
    const struct spec *spec = &ending->steps.spec;

    if (run_steps_load(&ending->steps, view->store, view->row.id,
                       ending->err) != 0)
        return -1;
    ending->gave = mem_array(ending->steps.list.count, sizeof(json_t *));
    ending->warnings = mem_array(ending->steps.list.count, sizeof(char *));
    ending->has_temps = mem_array(ending->steps.list.count, sizeof(bool));
    if (store_each_trial(view->store, &query, take_outputs, ending,
                         ending->err) != 0)
        return -1;
    if (spec->workflow == NULL || spec->workflow->output_count == 0 ||
        !run_has_succeeded(&view->row))
        return 0;
    ending->outputs = json_object();
    return child_run_evaluate(view->store, view->row.id, view->row.name,
                              spec->workflow, ending->outputs, ending->err);
}

static void clear(struct ending *ending)
{
    for (size_t i = 0; ending->gave != NULL && i < ending->steps.list.count;
         i++)
        json_decref(ending->gave[i]);
    for (size_t i = 0; ending->warnings != NULL && i < ending->steps.list.count;
         i++)
        free(ending->warnings[i]);
    free(ending->warnings);
    free(ending->has_temps);
    free(ending->gave);
    json_decref(ending->outputs);
    run_steps_clear(&ending->steps);
    free(ending->first_failed);
}

/* "rows=100 file=out.csv" */
static void print_gave(const json_t *gave, struct buf *out)
{
    const char *name;
    json_t *json;

    json_object_foreach((json_t *)(uintptr_t)gave, name, json)
    {
        struct value value = outputs_get(gave, name);

        if (json_is_object(json)) /* OUTPUT_TEXTS */
            continue;
        buf_printf(out, "%s%s=", out->length > 0 ? " " : "", name);
        value_print(&value, out);
    }
    if (out->length > GAVE_BYTES) {
        buf_truncate(out, GAVE_BYTES);
        buf_add_string(out, "...");
    }
}

/* ---- for people ---- */

static void print_head(const struct ending *ending)
{
    const struct run_row *row = &ending->view->row;
    bool colour = ending->cli->colour_out;
    int64_t end = row->ended_ms > 0 ? row->ended_ms : clock_wall_ms();
    struct buf counts_text = BUF_INIT;
    struct step_counts counts;
    char took[32];

    step_list_count(&ending->steps.list, &counts);
    step_counts_print(&counts, &counts_text);
    units_format_duration(
        end - (row->started_ms > 0 ? row->started_ms : row->created_ms), took,
        sizeof(took));
    printf("run %s%s%s: %s%s%s after %s, %" PRId64 " step%s (%s)\n",
           term_style(STYLE_BOLD, colour), row->name,
           term_style(STYLE_PLAIN, colour),
           term_style(term_state_style(row->state), colour), row->state,
           term_style(STYLE_PLAIN, colour), took, counts.all,
           counts.all == 1 ? "" : "s", buf_text(&counts_text));
    if (row->reason != NULL && row->reason[0] != '\0')
        printf("%s\n", term_shown(row->reason, &counts_text));
    buf_clear(&counts_text);
}

static int add_row(struct output *output, const struct ending *ending,
                   size_t step)
{
    const struct step_line *line = &ending->steps.list.lines[step];
    struct buf jobs = BUF_INIT, result = BUF_INIT;
    int64_t took = step_line_duration_ms(line, 0);
    int status;

    step_line_print_jobs(line, &jobs);
    if (line->state == FLOW_SUCCEEDED && !line->is_many)
        print_gave(ending->gave[step], &result);
    else
        step_list_print_note(&ending->steps.list, step, &result);
    status = output_row(output,
                        (const struct value[]){
                            value_text(line->name),
                            value_text(step_state_names[line->state]),
                            value_text(buf_text(&jobs)),
                            value_int_unless(took, -1),
                            value_text(buf_text(&result)),
                        },
                        ending->err);
    buf_clear(&jobs);
    buf_clear(&result);
    return status;
}

static int print_steps(const struct ending *ending)
{
    static const struct table_column columns[] = {
        {.key = "step", .type = COLUMN_TEXT},
        {.key = "state", .type = COLUMN_STATE},
        {.key = "copies", .type = COLUMN_TEXT},
        {.key = "took", .type = COLUMN_DURATION},
        {.key = "result", .type = COLUMN_TEXT},
    };
    const struct step_list *list = &ending->steps.list;
    bool *shown = mem_array(list->count, sizeof(*shown));
    struct output *output =
        output_create(ending->cli, columns, ARRAY_LEN(columns));
    struct buf rest_text = BUF_INIT;
    struct step_counts rest;
    int status = 0;

    step_list_choose(list, ROWS_SHOWN, shown, &rest);
    for (size_t i = 0; i < list->count && status == 0; i++) {
        if (shown[list->order[i]])
            status = add_row(output, ending, list->order[i]);
    }
    if (status == 0)
        status = output_finish(output, ending->err);
    else
        output_destroy(output);
    if (status == 0 && rest.all > 0) {
        step_counts_print(&rest, &rest_text);
        printf("and %" PRId64 " more: %s\n", rest.all, buf_text(&rest_text));
    }
    buf_clear(&rest_text);
    free(shown);
    return status;
}

/* ---- what to do next ---- */

static void print_hint(const struct ending *ending, const char *verb,
                       const char *operands, const char *what)
{
    hint_print(ending->cli, verb, ending->view->row.name, operands, what);
}

static void print_next(const struct ending *ending)
{
    bool colour = ending->cli->colour_err;
    const char *state = ending->view->row.state;
    char *job = mem_printf(
        " '%s'", ending->first_failed != NULL ? ending->first_failed : "");

    fprintf(stderr, "\n%snext:%s\n", term_style(STYLE_BOLD, colour),
            term_style(STYLE_PLAIN, colour));
    if (strcmp(state, run_state_names[RUN_STOPPED]) == 0)
        print_hint(ending, "resume", "", "continue the run");
    if (ending->first_failed != NULL) {
        print_hint(ending, "logs", job, "its full output");
        print_hint(ending, "retry", " --failed", "after you fix the cause");
    }
    print_hint(ending, "trials", "", "every job");
    print_hint(ending, "show", "", "details of the run");
    free(job);
}

static void print_warnings(const struct ending *ending)
{
    struct buf shown = BUF_INIT;

    for (size_t i = 0; i < ending->steps.list.count; i++) {
        if (ending->warnings[i] != NULL)
            fprintf(stderr, "smtune: warning: step '%s': %s\n",
                    ending->steps.list.lines[i].name,
                    term_shown(ending->warnings[i], &shown));
        if (ending->has_temps[i])
            fprintf(stderr,
                    "smtune: step '%s': its temporary outputs stay, because a "
                    "retry or another run may need them\n",
                    ending->steps.list.lines[i].name);
    }
    buf_clear(&shown);
}

static int print_text(struct ending *ending)
{
    const struct run_view *view = ending->view;
    struct buf gave = BUF_INIT, shown = BUF_INIT;

    print_head(ending);
    putchar('\n');
    if (print_steps(ending) != 0)
        return -1;
    if (ending->outputs != NULL) {
        print_gave(ending->outputs, &gave);
        printf("\noutputs: %s\n", term_shown(buf_text(&gave), &shown));
        buf_clear(&shown);
        buf_clear(&gave);
    }
    fflush(stdout);
    print_warnings(ending);
    if (view->row.failed > 0 &&
        failed_jobs_print(view, &ending->steps.list, FAILED_SHOWN,
                          &ending->first_failed, ending->err) != 0)
        return -1;
    print_next(ending);
    return 0;
}

/* ---- for programs ---- */

static json_t *step_json(const struct ending *ending, size_t step)
{
    const struct step_line *line = &ending->steps.list.lines[step];
    int64_t took = step_line_duration_ms(line, 0);
    json_t *gave = ending->gave[step];
    size_t copy;
    json_t *item;

    json_array_foreach(gave, copy, item)
    {
        json_object_del(item, OUTPUT_TEXTS);
    }
    json_object_del(gave, OUTPUT_TEXTS);
    return json_pack(
        "{so ss sI sI sI sI sI sI so so sO?}", "name",
        json_from_text(line->name), "state", step_state_names[line->state],
        "copies", (json_int_t)line->copies, "succeeded",
        (json_int_t)line->jobs.succeeded, "failed",
        (json_int_t)line->jobs.failed, "skipped",
        (json_int_t)line->jobs.skipped, "cancelled",
        (json_int_t)line->jobs.cancelled, "cached",
        (json_int_t)line->jobs.cached, "duration_ms", json_int_unless(took, -1),
        "reason", json_from_text(line->reason), "outputs", gave);
}

static int print_json(const struct ending *ending)
{
    const struct run_row *row = &ending->view->row;
    const struct step_list *list = &ending->steps.list;
    json_t *steps = json_array();
    struct buf text = BUF_INIT;
    json_t *json;

    json_object_del(ending->outputs, OUTPUT_TEXTS);
    for (size_t i = 0; i < list->count; i++) {
        if (!list->lines[list->order[i]].is_hidden)
            json_array_append_new(steps, step_json(ending, list->order[i]));
    }
    json = json_pack("{so ss so so sO?}", "run", json_from_text(row->name),
                     "state", row->state, "reason",
                     json_from_text(row->reason != NULL ? row->reason : ""),
                     "steps", steps, "outputs", ending->outputs);
    json_show(json, &text);
    printf("%s\n", buf_text(&text));
    json_decref(json);
    buf_clear(&text);
    return 0;
}

int workflow_end_print(const struct cli *cli, const char *name, struct err *err)
{
    struct run_view view;
    struct ending ending = {.cli = cli, .view = &view, .err = err};
    int result = run_view_open(&view, cli, name, err);

    if (result == 0)
        result = load(&ending);
    if (result == 0 && cli->output != OUTPUT_TABLE)
        result = print_json(&ending);
    else if (result == 0 && !cli->quiet)
        result = print_text(&ending);
    clear(&ending);
    run_view_close(&view);
    return result;
}
