/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asked for against used, as Slurm's seff does it for one job. What an attempt
 * asked for follows from the file and the retry rules that its job's earlier
 * attempts matched. What it used is the record's: wall time, CPU time of all
 * its processes, the largest memory, and how long its GPUs were busy by samples
 * of nvidia-smi. Of an attempt on several nodes the record has only the use of
 * the first, which counts as unknown. Slurm's accounting has gres/gpuutil, but
 * only the highest sample of each rank ("highwater marks", gres.html), which is
 * no use over time.
 */
#include "cli/show/jobs/efficiency.h"

#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/count.h"
#include "cli/show/jobs/run_jobs.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/experiment/gpus.h"

/* Of one job, or of all together. */
struct usage {
    int64_t attempts;   /* that ended */
    int64_t wall_ms;    /* of these together */
    int64_t longest_ms; /* of one */
    int64_t cpu_ms;     /* used where that is known */
    int64_t cpu_asked_ms;
    int64_t gpu_asked_ms;
    int64_t gpu_ms;           /* used where that is known */
    int64_t gpu_seen_ms;      /* asked for there; 0: it is known nowhere */
    int64_t gpu_memory_bytes; /* the most of one GPU; -1: not known */
    int64_t max_rss_bytes;
    double time_percent, memory_percent; /* the largest; 0: not known */
};

struct efficiency {
    struct document *document;
    const struct run_view *view;
    const struct experiment *experiment; /* NULL: a workflow */
    struct run_steps steps;
    const struct job_spec *task; /* of the job */
    struct resources resources;  /* of its next attempt */
    struct usage job, all;
    int64_t jobs;
    bool lacks_nodes, lacks_figures, lacks_gpus, lacks_parts; /* not known */
    struct err *err;
};

static const struct table_column columns[] = {
    {"job", NULL, COLUMN_TEXT, NULL},
    {"attempts", NULL, COLUMN_NUMBER, NULL},
    {"time_limit_ms", "time limit", COLUMN_DURATION, NULL},
    {"longest_ms", "longest", COLUMN_DURATION, NULL},
    {"time_percent", "time %", COLUMN_NUMBER, NULL},
    {"cpus", NULL, COLUMN_NUMBER, NULL},
    {"cpu_ms", "CPU time", COLUMN_DURATION, NULL},
    {"cpu_percent", "CPU %", COLUMN_NUMBER, NULL},
    {"memory_bytes", "memory limit", COLUMN_BYTES, NULL},
    {"max_rss_bytes", "most", COLUMN_BYTES, NULL},
    {"memory_percent", "memory %", COLUMN_NUMBER, NULL},
    {"gpus", "GPUs", COLUMN_NUMBER, NULL},
    {"gpu_percent", "GPU %", COLUMN_NUMBER, NULL},
    {"gpu_memory_bytes", "GPU memory", COLUMN_BYTES, NULL},
};

/* ---- attempts ---- */

static double percent(int64_t used, int64_t asked)
{
    return asked > 0 ? (double)used * 100 / (double)asked : 0;
}

static struct value percent_or_null(double percent)
{
    return percent > 0 ? value_real((double)(int64_t)(percent * 10 + 0.5) / 10)
                       : value_null();
}

static void add_measured(struct efficiency *this,
                         const struct attempt_row *attempt, int64_t wall_ms)
{
    const struct resources *asked = &this->resources;
    struct usage *job = &this->job;
    double memory = percent(attempt->max_rss_bytes, asked->memory_bytes);

    job->cpu_ms = count_add(job->cpu_ms, attempt->cpu_ms);
    job->cpu_asked_ms =
        count_add(job->cpu_asked_ms, count_times(wall_ms, asked->cpus));
    if (attempt->max_rss_bytes > job->max_rss_bytes)
        job->max_rss_bytes = attempt->max_rss_bytes;
    if (memory > job->memory_percent)
        job->memory_percent = memory;
}

/* Of an attempt on one node that had GPUs of its own. */
static void add_gpus(struct efficiency *this, const struct attempt_row *attempt,
                     int64_t wall_ms)
{
    const struct resources *asked = &this->resources;
    struct usage *job = &this->job;

    if (attempt->gpu_ms >= 0) {
        job->gpu_ms = count_add(job->gpu_ms, attempt->gpu_ms);
        job->gpu_seen_ms =
            count_add(job->gpu_seen_ms, count_times(wall_ms, asked->gpus));
    } else {
        this->lacks_gpus = true;
    }
    if (attempt->gpu_memory_bytes > job->gpu_memory_bytes)
        job->gpu_memory_bytes = attempt->gpu_memory_bytes;
}

static int add_attempt(void *user, const struct attempt_row *attempt)
{
    static const struct retry_machine any_machine = {INT_MAX, INT_MAX};
    struct efficiency *this = user;
    const struct resources *asked = &this->resources;
    struct usage *job = &this->job;
    int64_t wall_ms = attempt->ended_ms - attempt->started_ms;
    struct buf text = BUF_INIT;
    double time;
    /* Rules of an earlier file scaled what that file asked for. */
    int64_t rule = attempt->rule - this->view->row.retry_base;

    if (attempt->started_ms == 0 || attempt->ended_ms == 0 || wall_ms < 0)
        return 0;
    job->attempts++;
    job->wall_ms = count_add(job->wall_ms, wall_ms);
    job->gpu_asked_ms = count_add(
        job->gpu_asked_ms, count_times(wall_ms, gpus_permille(asked)) / 1000);
    if (wall_ms > job->longest_ms)
        job->longest_ms = wall_ms;
    time = percent(wall_ms, asked->time_ms);
    if (time > job->time_percent)
        job->time_percent = time;
    if (asked->nodes > 1)
        this->lacks_nodes = true;
    else if (attempt->max_rss_bytes == 0)
        this->lacks_figures = true;
    else
        add_measured(this, attempt, wall_ms);
    if (asked->gpu_permille > 0)
        this->lacks_parts = true;
    else if (asked->gpus > 0 && asked->nodes > 1)
        this->lacks_gpus = true;
    else if (asked->gpus > 0)
        add_gpus(this, attempt, wall_ms);
    if (rule >= 0 && !attempt->is_displaced && this->task != NULL)
        retry_scale(retry_rule_at(this->task->retries, this->task->retry_count,
                                  (int)rule),
                    &any_machine, &this->resources, &text);
    buf_clear(&text);
    return 0;
}

/* ---- jobs ---- */

static void add_up(struct efficiency *this)
{
    struct usage *all = &this->all;
    const struct usage *job = &this->job;

    this->jobs++;
    all->attempts += job->attempts;
    all->wall_ms = count_add(all->wall_ms, job->wall_ms);
    all->cpu_ms = count_add(all->cpu_ms, job->cpu_ms);
    all->cpu_asked_ms = count_add(all->cpu_asked_ms, job->cpu_asked_ms);
    all->gpu_asked_ms = count_add(all->gpu_asked_ms, job->gpu_asked_ms);
    all->gpu_ms = count_add(all->gpu_ms, job->gpu_ms);
    all->gpu_seen_ms = count_add(all->gpu_seen_ms, job->gpu_seen_ms);
    if (job->gpu_memory_bytes > all->gpu_memory_bytes)
        all->gpu_memory_bytes = job->gpu_memory_bytes;
    if (job->memory_percent > all->memory_percent)
        all->memory_percent = job->memory_percent;
    if (job->time_percent > all->time_percent)
        all->time_percent = job->time_percent;
    if (job->max_rss_bytes > all->max_rss_bytes)
        all->max_rss_bytes = job->max_rss_bytes;
}

static void choose_task(struct efficiency *this, const struct trial_row *job)
{
    const struct workflow *workflow = this->steps.spec.workflow;

    this->task = NULL;
    this->resources = (struct resources){.cpus = 0};
    if (this->experiment != NULL)
        this->task = &this->experiment->task;
    else if (workflow != NULL && job->step >= 0 &&
             (size_t)job->step < workflow->step_count)
        this->task = &workflow->steps[job->step].task;
    if (this->task != NULL)
        this->resources = this->task->resources;
}

static void print_name(const struct efficiency *this,
                       const struct trial_row *job, struct buf *name)
{
    if (this->experiment == NULL)
        run_jobs_print_name(&this->steps.list, job, name);
    else
        buf_printf(name, "%lld", (long long)job->number);
}

static struct value gpus_value(const struct resources *asked)
{
    return asked->gpu_permille > 0
               ? value_real((double)asked->gpu_permille / 1000)
               : value_int_unless(asked->gpus, 0);
}

/* GPUs that did nothing are the finding that matters most. */
static struct value gpu_percent_value(const struct usage *usage)
{
    double used = percent(usage->gpu_ms, usage->gpu_seen_ms);

    return usage->gpu_seen_ms > 0 && used == 0 ? value_real(0)
                                               : percent_or_null(used);
}

static int add_row(const struct efficiency *this, const char *name,
                   const struct resources *asked)
{
    const struct usage *job = &this->job;
    bool is_measured = job->max_rss_bytes > 0;

    return document_row(
        this->document,
        (const struct value[ARRAY_LEN(columns)]){
            value_text(name),
            value_int(job->attempts),
            value_int_unless(asked->time_ms, 0),
            value_int(job->longest_ms),
            percent_or_null(job->time_percent),
            value_int_unless(asked->cpus, 0),
            value_int_if(is_measured, job->cpu_ms),
            percent_or_null(percent(job->cpu_ms, job->cpu_asked_ms)),
            value_int_unless(asked->memory_bytes, 0),
            value_int_if(is_measured, job->max_rss_bytes),
            percent_or_null(job->memory_percent),
            gpus_value(asked),
            gpu_percent_value(job),
            value_int_unless(job->gpu_memory_bytes, -1),
        },
        this->err);
}

static int add_job(void *user, const struct trial_row *job)
{
    struct efficiency *this = user;
    struct resources asked;
    struct buf name = BUF_INIT;
    int status;

    choose_task(this, job);
    asked = this->resources;
    this->job = (struct usage){.gpu_memory_bytes = -1};
    status = store_each_attempt(this->view->store, this->view->row.id, job->job,
                                add_attempt, this, this->err);
    if (status < 0 || this->job.attempts == 0)
        return status < 0 ? -1 : 0;
    add_up(this);
    print_name(this, job, &name);
    status = add_row(this, buf_text(&name), &asked);
    buf_clear(&name);
    return status;
}

/* ---- the whole ---- */

static const struct table_column sum_columns[] = {
    {"run", NULL, COLUMN_TEXT, NULL},
    {"jobs", NULL, COLUMN_NUMBER, NULL},
    {"attempts", NULL, COLUMN_NUMBER, NULL},
    {"wall_ms", "time", COLUMN_DURATION, NULL},
    {"time_percent", "time limit used %, at most", COLUMN_NUMBER, NULL},
    {"cpu_asked_ms", "CPU time asked for", COLUMN_DURATION, NULL},
    {"cpu_ms", "CPU time used", COLUMN_DURATION, NULL},
    {"cpu_percent", "CPU used %", COLUMN_NUMBER, NULL},
    {"max_rss_bytes", "most memory", COLUMN_BYTES, NULL},
    {"memory_percent", "memory used %, at most", COLUMN_NUMBER, NULL},
    {"gpu_asked_ms", "GPU time asked for", COLUMN_DURATION, NULL},
    {"gpu_ms", "GPU time used", COLUMN_DURATION, NULL},
    {"gpu_percent", "GPU used %", COLUMN_NUMBER, NULL},
    {"gpu_memory_bytes", "most memory of a GPU", COLUMN_BYTES, NULL},
    {"unknown", NULL, COLUMN_TEXT, NULL},
};

static void print_unknown(const struct efficiency *this, struct buf *text)
{
    const struct {
        bool is_so;
        const char *text;
    } parts[] = {
        {this->lacks_gpus,
         "the use of GPUs of attempts that `nvidia-smi` showed nothing of"},
        {this->lacks_parts, "the use of GPUs that trials share"},
        {this->lacks_nodes, "CPU time and memory of jobs on several nodes"},
        {this->lacks_figures,
         "CPU time and memory of attempts that nothing could measure"},
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].is_so)
            buf_printf(text, "%s%s", text->length > 0 ? "; " : "",
                       parts[i].text);
    }
}

static int add_sums(const struct efficiency *this)
{
    const struct usage *all = &this->all;
    struct buf unknown = BUF_INIT;
    int status;

    print_unknown(this, &unknown);
    status = document_known_fields(
        this->document, sum_columns,
        (const struct value[ARRAY_LEN(sum_columns)]){
            value_text(this->view->row.name),
            value_int(this->jobs),
            value_int(all->attempts),
            value_int(all->wall_ms),
            percent_or_null(all->time_percent),
            value_int_unless(all->cpu_asked_ms, 0),
            value_int_if(all->max_rss_bytes > 0, all->cpu_ms),
            percent_or_null(percent(all->cpu_ms, all->cpu_asked_ms)),
            value_int_unless(all->max_rss_bytes, 0),
            percent_or_null(all->memory_percent),
            value_int_unless(all->gpu_asked_ms, 0),
            value_int_if(all->gpu_seen_ms > 0, all->gpu_ms),
            gpu_percent_value(all),
            value_int_unless(all->gpu_memory_bytes, -1),
            value_text_unless_empty(buf_text(&unknown)),
        },
        ARRAY_LEN(sum_columns), this->err);
    buf_clear(&unknown);
    return status;
}

static int add_all(struct efficiency *this, const char *operand)
{
    struct trial_query query = {.run = this->view->row.id,
                                .results_only = true};
    struct run_job job;

    if (operand != NULL) {
        if (run_jobs_find(this->view, operand, &job, this->err) != 0)
            return -1;
        query.number = job.number;
        run_job_clear(&job);
    }
    document_begin_list(this->document, "efficiency", columns,
                        ARRAY_LEN(columns));
    if (store_each_trial(this->view->store, &query, add_job, this, this->err) <
            0 ||
        document_end_list(this->document, this->err) != 0)
        return -1;
    return add_sums(this);
}

int efficiency_add(struct document *document, const struct run_view *view,
                   const char *operand, struct err *err)
{
    struct efficiency this = {.document = document,
                              .view = view,
                              .all = {.gpu_memory_bytes = -1},
                              .err = err};
    struct experiment *experiment = NULL;
    int status = 0;

    if (run_is_workflow(&view->row)) {
        status = run_steps_load(&this.steps, view->store, view->row.id, err);
    } else {
        experiment = run_read_experiment(view->store, view->row.id, err);
        status = experiment != NULL ? 0 : -1;
    }
    this.experiment = experiment;
    if (status == 0)
        status = add_all(&this, operand);
    run_steps_clear(&this.steps);
    experiment_destroy(experiment);
    return status;
}
