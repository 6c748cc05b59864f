/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/job_document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "cli/show/jobs/job_command.h"
#include "cli/show/jobs/job_matrix.h"
#include "cli/show/jobs/notes_and_tags.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/jobs/trial_document.h"
#include "cli/term/json_fields.h"
#include "orchestrator/job/outputs.h"
#include "orchestrator/job/states.h"
#include "orchestrator/spec/spec_mask.h"

struct job_document {
    const struct cli *cli;
    struct document *document;
    const struct run_view *view;
    const struct run_steps *steps;
    const struct mask *mask; /* NULL: secrets are shown */
    int64_t step;
    int64_t job; /* its id */
    struct err *err;
};

static json_t *parse(const char *text)
{
    return text == NULL ? NULL : json_parse(text, strlen(text), NULL);
}

/* For people without what is not known. */
static int add_known(const struct job_document *this,
                     const struct table_column *columns,
                     const struct value *cells, size_t count)
{
    struct table_column *known = mem_array(count, sizeof(*known));
    struct value *values = mem_array(count, sizeof(*values));
    bool all = this->cli->output != OUTPUT_TABLE;
    size_t kept = 0;
    int status;

    for (size_t i = 0; i < count; i++) {
        bool is_unset = columns[i].type == COLUMN_TIME && cells[i].integer == 0;

        if (!all && (cells[i].type == VALUE_NULL || is_unset))
            continue;
        known[kept] = columns[i];
        values[kept++] = cells[i];
    }
    status =
        document_fields(this->document, NULL, known, values, kept, this->err);
    free(known);
    free(values);
    return status;
}

/* The step in the file; NULL: not known. */
static const struct step *step_of(const struct job_document *this, int64_t step)
{
    const struct workflow *workflow = this->steps->spec.workflow;

    return workflow != NULL && step >= 0 && (size_t)step < workflow->step_count
               ? &workflow->steps[step]
               : NULL;
}

/* What it runs, as its file has it; NULL: nothing, or it is not known. The
 * caller's to free. */
static char *command_of(const struct job_document *this, int64_t step)
{
    const struct step *its = step_of(this, step);
    const char *text = its != NULL ? its->file : NULL;

    if (its != NULL && its->task.command != NULL)
        text = template_source(its->task.command);
    return mask_show(this->mask, text);
}

/* The command that the job was started with; else as its file has it. */
static char *command_of_job(const struct job_document *this,
                            const struct trial_row *job)
{
    char *command = job_command(this->view, this->steps, job);
    char *shown = command != NULL ? mask_show(this->mask, command)
                                  : command_of(this, job->step);

    free(command);
    return shown;
}

/* "pipeline.yaml:14" */
static char *place_of(const struct job_document *this, int64_t step)
{
    const struct step *its = step_of(this, step);
    const char *path = this->view->row.spec_path;

    return its == NULL || path[0] == '\0'
               ? NULL
               : mem_printf("%s:%d", path, its->place.line);
}

/* ---- one job ---- */

struct cached_search {
    int64_t job;
    char *text;
};

static int take_cached(void *user, const struct cached_row *row)
{
    struct cached_search *search = user;

    if (row->job == search->job && search->text == NULL)
        search->text =
            mem_printf("job %" PRId64 " of run %s", row->number, row->run);
    return 0;
}

char *job_document_source(struct store *store, const struct trial_row *job)
{
    struct cached_search search = {.job = job->cached_from};

    if (job->cached_from == 0 || job->cache_key == NULL)
        return NULL;
    store_each_cached(store, job->cache_key, 0, take_cached, &search, NULL);
    return search.text != NULL ? search.text : mem_copy_string("a removed run");
}

static const struct table_column job_columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"job", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"cause", NULL, COLUMN_TEXT, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
    {"step", NULL, COLUMN_TEXT, NULL},
    {"copy", NULL, COLUMN_NUMBER, NULL},
    {"round", NULL, COLUMN_NUMBER, NULL},
    {"place", "file", COLUMN_TEXT, NULL},
    {"command", NULL, COLUMN_TEXT, NULL},
    {"created", NULL, COLUMN_TIME, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
    {"last_started", "last started", COLUMN_TIME, NULL},
    {"last_duration_ms", "last duration", COLUMN_DURATION, NULL},
    {"retry_at", NULL, COLUMN_TIME, NULL},
    {"cached_from", "result of", COLUMN_TEXT, NULL},
    {"directory", "files", COLUMN_TEXT, NULL},
};

static int add_fields(const struct job_document *this,
                      const struct trial_row *job)
{
    const struct step_line *line = &this->steps->list.lines[job->step];
    char *run = store_run_directory(this->view->store, this->view->row.name);
    char *directory = mem_printf("%s/trials/%" PRId64, run, job->number);
    char *place = place_of(this, job->step);
    char *cached = job_document_source(this->view->store, job);
    char *command = command_of_job(this, job);
    bool is_due =
        strcmp(job->state, job_state_names[JOB_WAITING]) == 0 && job->due_ms;
    /* People have the list of attempts. */
    bool shows_last = this->cli->output != OUTPUT_TABLE;
    struct buf name = BUF_INIT;
    int status;

    run_jobs_print_name(&this->steps->list, job, &name);
    status = add_known(
        this, job_columns,
        (const struct value[ARRAY_LEN(job_columns)]){
            value_int(job->number),
            value_text(buf_text(&name)),
            value_text(job_state_shown(this->view, job->state)),
            value_text_unless_empty(job->cause),
            line->is_many ? value_null()
                          : value_text_unless_empty(line->reason),
            value_text(line->name),
            value_int_if(line->is_many, job->copy),
            value_int_if(job->round > 0, job->round),
            value_text_unless_empty(place),
            value_text_unless_empty(command),
            value_int(job->created_ms),
            value_int(job->attempts.first_started_ms),
            value_int(job->ended_ms),
            value_int_unless(trial_ran_ms(this->view, job), -1),
            value_int(shows_last ? job->attempts.last_started_ms : 0),
            value_int_unless(
                shows_last ? trial_last_ran_ms(this->view, job) : -1, -1),
            value_int(is_due ? job->due_ms : 0),
            value_text_unless_empty(cached),
            value_text(directory),
        },
        ARRAY_LEN(job_columns));
    buf_clear(&name);
    free(command);
    free(cached);
    free(place);
    free(directory);
    free(run);
    return status;
}

static int add_matrix(const struct job_document *this,
                      const struct trial_row *job)
{
    json_t *axes = job_matrix_read(this->view, job->step);
    json_t *values = job_matrix_values(axes, job->copy);
    int status =
        json_fields_add(this->document, "matrix", values, NULL, this->err);

    json_decref(values);
    json_decref(axes);
    return status;
}

json_t *job_outputs(const struct trial_row *job, json_t **written)
{
    json_t *outputs = parse(job->outputs);
    const char *name;
    json_t *unused;
    void *next;

    if (written != NULL)
        *written = json_incref(json_object_get(outputs, OUTPUT_TEXTS));
    json_object_foreach_safe(outputs, next, name, unused)
    {
        (void)unused;
        if (name[0] == '#') /* as no output's name begins */
            json_object_del(outputs, name);
    }
    if (outputs != NULL && json_object_size(outputs) > 0)
        return outputs;
    json_decref(outputs);
    return NULL;
}

static int add_job(void *user, const struct trial_row *job)
{
    struct job_document *this = user;
    json_t *rounds = parse(job->rounds);
    json_t *written, *outputs = job_outputs(job, &written);
    int status = -1;

    if (job->step >= 0 && (size_t)job->step < this->steps->list.count)
        status = add_fields(this, job);
    if (status == 0)
        status = add_matrix(this, job);
    if (status == 0)
        status =
            json_fields_add(this->document, "rounds", rounds, NULL, this->err);
    if (status == 0)
        status = json_fields_add(this->document, "outputs", outputs, written,
                                 this->err);
    json_decref(rounds);
    json_decref(outputs);
    json_decref(written);
    return status;
}

/* ---- its child runs ---- */

static const struct table_column child_columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},   {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL}, {"done", NULL, COLUMN_NUMBER, NULL},
    {"jobs", "of", COLUMN_NUMBER, NULL},
};

static int add_child(void *user, const struct run_row *run)
{
    struct job_document *this = user;
    int64_t pid;

    if (run->parent_id != this->view->row.id || run->parent_job != this->job)
        return 0;
    return document_row(
        this->document,
        (const struct value[ARRAY_LEN(child_columns)]){
            value_int(run->id),
            value_text(run->name),
            value_text(run_state_shown(this->view->store, run, &pid)),
            value_int(run_done(run)),
            value_int(run->trials),
        },
        this->err);
}

static int add_child_runs(struct job_document *this)
{
    document_begin_list(this->document, "runs_below", child_columns,
                        ARRAY_LEN(child_columns));
    if (store_each_child_run(this->view->store, this->view->row.id, add_child,
                             this, this->err) < 0)
        return -1;
    return document_end_list(this->document, this->err);
}

static int show_job(struct job_document *this, int64_t number)
{
    const struct trial_query query = {.run = this->view->row.id,
                                      .number = number};

    if (store_each_trial(this->view->store, &query, add_job, this, this->err) !=
            0 ||
        notes_and_tags_add(this->document, this->cli, this->view, this->job,
                           this->err) != 0 ||
        trial_document_add_attempts(this->document, this->view, this->job,
                                    this->err) != 0 ||
        add_child_runs(this) != 0)
        return -1;
    return trial_document_add_metrics(this->document, this->view, this->job,
                                      this->err);
}

/* ---- a step ---- */

static const struct table_column step_columns[] = {
    {"step", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"note", NULL, COLUMN_TEXT, NULL},
    {"copies", NULL, COLUMN_NUMBER, NULL},
    {"place", "file", COLUMN_TEXT, NULL},
    {"command", NULL, COLUMN_TEXT, NULL},
    {"began", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
};

static int add_step(const struct job_document *this)
{
    const struct step_line *line = &this->steps->list.lines[this->step];
    int64_t ms = step_line_duration_ms(
        line, this->view->engine_pid > 0 ? clock_wall_ms() : 0);
    char *place = place_of(this, this->step);
    char *command = command_of(this, this->step);
    struct buf note = BUF_INIT;
    int status;

    step_list_print_note(&this->steps->list, (size_t)this->step, &note);
    status =
        add_known(this, step_columns,
                  (const struct value[ARRAY_LEN(step_columns)]){
                      value_text(line->name),
                      value_text(step_list_state(&this->steps->list, line)),
                      value_text_unless_empty(buf_text(&note)),
                      value_int_if(line->began_ms > 0, line->copies),
                      value_text_unless_empty(place),
                      value_text_unless_empty(command),
                      value_int(line->began_ms),
                      value_int(line->ended_ms),
                      value_int_if(ms >= 0, ms),
                  },
                  ARRAY_LEN(step_columns));
    buf_clear(&note);
    free(command);
    free(place);
    return status;
}

static const struct table_column copy_columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"job", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"cause", NULL, COLUMN_TEXT, NULL},
    {"attempts", NULL, COLUMN_NUMBER, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
};

static int add_copy(void *user, const struct trial_row *job)
{
    const struct job_document *this = user;
    struct buf name = BUF_INIT;
    int status;

    if (job->step != this->step)
        return 0;
    run_jobs_print_name(&this->steps->list, job, &name);
    status =
        document_row(this->document,
                     (const struct value[ARRAY_LEN(copy_columns)]){
                         value_int(job->number),
                         value_text(buf_text(&name)),
                         value_text(job_state_shown(this->view, job->state)),
                         value_text_unless_empty(job->cause),
                         value_int(job->attempts.count),
                         value_int_unless(trial_ran_ms(this->view, job), -1),
                     },
                     this->err);
    buf_clear(&name);
    return status;
}

static int show_step(struct job_document *this)
{
    const struct trial_query query = {.run = this->view->row.id};
    json_t *axes = job_matrix_read(this->view, this->step);
    int status = add_step(this);

    if (status == 0)
        status =
            json_fields_add(this->document, "matrix", axes, NULL, this->err);
    json_decref(axes);
    if (status != 0)
        return -1;
    document_begin_list(this->document, "jobs", copy_columns,
                        ARRAY_LEN(copy_columns));
    if (store_each_trial(this->view->store, &query, add_copy, this, this->err) <
        0)
        return -1;
    return document_end_list(this->document, this->err);
}

int job_document_add(struct document *document, const struct cli *cli,
                     const struct run_view *view, const char *operand,
                     struct err *err)
{
    struct run_steps steps;
    struct run_job job = {0};
    struct mask *mask = NULL;
    struct job_document this = {.cli = cli,
                                .document = document,
                                .view = view,
                                .steps = &steps,
                                .err = err};
    int status = run_steps_load(&steps, view->store, view->row.id, err);

    if (status == 0)
        status = run_jobs_find_part(view, &steps, operand, &job, err);
    if (status == 0 && !cli->with_secrets && steps.spec.workflow != NULL)
        this.mask = mask =
            spec_mask_create(steps.spec.experiment, steps.spec.workflow);
    if (status == 0) {
        this.step = job.step;
        this.job = job.id;
        status = job.id == 0 ? show_step(&this) : show_job(&this, job.number);
    }
    mask_destroy(mask);
    run_job_clear(&job);
    run_steps_clear(&steps);
    return status;
}
