/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/why_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/show/jobs/job_document.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/jobs/step_place.h"
#include "cli/show/run/attempt_place.h"
#include "orchestrator/job/links.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/steps/cache_ask.h"

enum { HASH_SHOWN = 12 };

struct why {
    struct document *document;
    const struct run_view *view;
    struct run_steps steps;
    struct conf_doc *file; /* NULL: cannot be read */
    struct err *err;
    struct run_job job;   /* id 0: the step as a whole */
    int64_t cancel_asked; /* of the job: enum cancel_asker, 0: by nobody */
};

static const struct step_line *line_of(const struct why *why)
{
    return &why->steps.list.lines[why->job.step];
}

/* The step in the file; NULL: not known. */
static const struct step *step_of(const struct why *why)
{
    const struct workflow *workflow = why->steps.spec.workflow;

    return workflow != NULL && (size_t)why->job.step < workflow->step_count
               ? &workflow->steps[why->job.step]
               : NULL;
}

static const struct flow_step *flow_of(const struct why *why)
{
    return step_of(why) != NULL
               ? &why->steps.spec.workflow->flow_steps[why->job.step]
               : NULL;
}

static int line_in_file(const struct why *why, const char *key, int64_t index)
{
    return why->file == NULL
               ? 0
               : step_place_line(why->file, line_of(why)->name, key, index);
}

/* ---- in a sentence ---- */

static void describe_room(const struct why *why, struct buf *out)
{
    const struct flow_step *flow = flow_of(why);
    const struct step *step = step_of(why);
    const struct workflow *workflow = why->steps.spec.workflow;

    buf_add_string(out, "it can start as soon as slots are free");
    if (flow == NULL)
        return;
    if (step != NULL && step->has_temps && step->cache.is_on)
        buf_add_string(out, "; if a cache hit lacks its temporary output, it "
                            "waits until smtune finds whether a step needs it");
    if (flow->parallel > 0)
        buf_printf(out, "; at most %" PRId64 " of its copies run at once",
                   flow->parallel);
    for (size_t i = 0; i < flow->claim_count; i++)
        buf_printf(out, "; it takes %" PRId64 " of pool '%s' (%" PRId64 ")",
                   flow->claims[i].amount,
                   workflow->pools[flow->claims[i].pool].name,
                   workflow->pools[flow->claims[i].pool].size);
}

/* With what the cache noted beside them; NULL: none. The caller's. */
static json_t *all_outputs(const struct trial_row *job)
{
    return job->outputs != NULL
               ? json_parse(job->outputs, strlen(job->outputs), NULL)
               : NULL;
}

static void add_cache_notes(const struct trial_row *job, struct buf *out)
{
    static const char *const keys[] = {CACHE_NOTE, CACHE_WARNING};
    json_t *outputs = all_outputs(job);

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *note = json_string_value(json_object_get(outputs, keys[i]));

        if (note != NULL)
            buf_printf(out, "; %s", note);
    }
    json_decref(outputs);
}

/* Whether temporary outputs were missing when it became a cache hit. */
static bool lacks_temps(const struct trial_row *job)
{
    json_t *outputs = all_outputs(job);
    bool lacks = json_object_get(outputs, CACHE_MISSING) != NULL;

    json_decref(outputs);
    return lacks;
}

static bool is_touched(const struct why *why, const struct trial_row *job)
{
    const struct workflow *workflow = why->steps.spec.workflow;

    return workflow != NULL && workflow->is_touched && job->attempts.count == 0;
}

static void describe_success(const struct why *why, const struct trial_row *job,
                             struct buf *out)
{
    char *source = job_document_source(why->view->store, job);

    if (source != NULL) {
        buf_printf(out,
                   "cache hit: nothing that its result depends on has changed "
                   "since %s, and its result is that of the earlier job",
                   source);
        if (lacks_temps(job))
            buf_add_string(out, "; " CACHE_NOT_NEEDED);
    } else if (job->cached_from != 0) {
        buf_add_string(out, "its result was reused from an earlier run");
    } else {
        buf_add_string(out, is_touched(why, job)
                                ? "its files were accepted as made (--touch)"
                                : "its last attempt succeeded");
        add_cache_notes(job, out);
    }
    if (job->temps_removed_ms != 0)
        buf_add_string(out, "; its temporary outputs were removed when no step "
                            "needed them any more");
    free(source);
}

static void describe_job(const struct why *why, const struct trial_row *job,
                         struct buf *out)
{
    if (!why->job.is_over && run_lacks_engine(why->view)) {
        buf_printf(out, "the engine crashed; `smtune resume %s` continues it",
                   why->view->row.name);
        return;
    }
    switch (job_state_find(job->state)) {
    case JOB_READY:
        describe_room(why, out);
        break;
    case JOB_WAITING:
        buf_add_string(out, "it waits until the time of its next attempt");
        break;
    case JOB_RUNNING:
        buf_printf(out, "its attempt %" PRId64 " is running",
                   job->attempts.count);
        break;
    case JOB_SUCCEEDED:
        describe_success(why, job, out);
        break;
    case JOB_SKIPPED:
        buf_add_string(out, "its condition was false");
        break;
    default:
        buf_printf(out, "its last attempt ended with '%s'",
                   job->cause != NULL ? job->cause : "nothing");
        break;
    }
}

static void describe_step(const struct why *why, struct buf *out)
{
    const struct step_line *line = line_of(why);

    step_list_print_note(&why->steps.list, (size_t)why->job.step, out);
    if (out->length > 0)
        return;
    if (line->state == FLOW_ACTIVE)
        step_line_print_jobs(line, out);
    else if (line->state == FLOW_WAITING)
        buf_add_string(out, "it has not started");
    else if (line->state == FLOW_SUCCEEDED)
        buf_add_string(out, "enough of its copies succeeded");
}

static const struct table_column head_columns[] = {
    {"step", NULL, COLUMN_TEXT, NULL},
    {"job", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
};

static int add_head(const struct why *why, const char *job, const char *state,
                    const char *reason)
{
    return document_fields(why->document, NULL, head_columns,
                           (const struct value[ARRAY_LEN(head_columns)]){
                               value_text(line_of(why)->name),
                               value_text_unless_empty(job),
                               value_text(state),
                               value_text_unless_empty(reason),
                           },
                           ARRAY_LEN(head_columns), why->err);
}

static int add_step_head(const struct why *why)
{
    struct buf reason = BUF_INIT;
    int status;

    describe_step(why, &reason);
    status =
        add_head(why, NULL, step_list_state(&why->steps.list, line_of(why)),
                 buf_text(&reason));
    buf_clear(&reason);
    return status;
}

static int add_job_head(void *user, const struct trial_row *job)
{
    struct why *why = user;
    struct buf name = BUF_INIT, reason = BUF_INIT;
    int status;

    why->cancel_asked = job->cancel_asked;
    run_jobs_print_name(&why->steps.list, job, &name);
    status = place_print_queue(why->view, job->job, &reason, why->err);
    if (status == 0 && reason.length == 0)
        describe_job(why, job, &reason);
    if (status == 0)
        status =
            add_head(why, buf_text(&name),
                     job_state_shown(why->view, job->state), buf_text(&reason));
    buf_clear(&name);
    buf_clear(&reason);
    return status;
}

/* ---- its rules ---- */

static const struct table_column rule_columns[] = {
    {"rule", NULL, COLUMN_TEXT, NULL},
    {"line", NULL, COLUMN_NUMBER, NULL},
    {"text", NULL, COLUMN_TEXT, NULL},
};

static int add_rule(const struct why *why, const char *key, const char *text)
{
    return document_row(why->document,
                        (const struct value[ARRAY_LEN(rule_columns)]){
                            value_text(key),
                            value_int_unless(line_in_file(why, key, -1), 0),
                            value_text_unless_empty(text),
                        },
                        why->err);
}

static const char *file_text(const struct why *why, const char *key)
{
    return why->file == NULL
               ? NULL
               : step_place_text(why->file, line_of(why)->name, key);
}

static int add_rules(const struct why *why)
{
    static const char *const keys[] = {
        "if",       "success_if", "may_fail", "fail_fast",
        "parallel", "timeout",    "cache",
    };
    const struct flow_step *flow = flow_of(why);
    int status = 0;

    document_begin_list(why->document, "rules", rule_columns,
                        ARRAY_LEN(rule_columns));
    if (flow != NULL)
        status = add_rule(why, "when", flow_when_names[flow->when]);
    for (size_t i = 0; i < ARRAY_LEN(keys) && status == 0; i++) {
        if (line_in_file(why, keys[i], -1) > 0)
            status = add_rule(why, keys[i], file_text(why, keys[i]));
    }
    return status == 0 ? document_end_list(why->document, why->err) : -1;
}

/* ---- what it needs ---- */

static const struct table_column need_columns[] = {
    {"name", "step", COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
};

/* What only stands for other steps is left out for them. */
static int add_needs_of(const struct why *why, size_t step, bool *seen)
{
    const struct step_list *list = &why->steps.list;
    size_t count;
    const size_t *needs = graph_needs(list->graph, step, &count);
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++) {
        const struct step_line *need = &list->lines[needs[i]];

        if (seen[needs[i]])
            continue;
        seen[needs[i]] = true;
        if (need->is_hidden)
            status = add_needs_of(why, needs[i], seen);
        else
            status = document_row(why->document,
                                  (const struct value[ARRAY_LEN(need_columns)]){
                                      value_text(need->name),
                                      value_text(step_list_state(list, need)),
                                      value_text_unless_empty(need->reason),
                                  },
                                  why->err);
    }
    return status;
}

static int add_needs(const struct why *why)
{
    const struct step_list *list = &why->steps.list;
    bool *seen = mem_array(list->count, sizeof(*seen));
    int status = 0;

    document_begin_list(why->document, "needs", need_columns,
                        ARRAY_LEN(need_columns));
    if (list->graph != NULL)
        status = add_needs_of(why, (size_t)why->job.step, seen);
    free(seen);
    return status == 0 ? document_end_list(why->document, why->err) : -1;
}

/* ---- its attempts ---- */

static const struct table_column attempt_columns[] = {
    {"attempt", NULL, COLUMN_NUMBER, NULL},
    {"cause", NULL, COLUMN_TEXT, NULL},
    {"exit_code", "exit", COLUMN_NUMBER, NULL},
    {"signal", NULL, COLUMN_NUMBER, NULL},
    {"checkpoint", NULL, COLUMN_TEXT, NULL},
    {"then", NULL, COLUMN_TEXT, NULL},
    {"line", NULL, COLUMN_NUMBER, NULL},
};

struct attempts {
    const struct why *why;
    struct links links;
    struct free_starts free_starts;
    int64_t count; /* of the job's attempts */
    bool is_over;
};

/* What an attempt's end led to. */
struct consequence {
    struct buf text;
    int line;
};

/* Who ended the job. */
static const char *canceller(const struct why *why)
{
    switch (why->cancel_asked) {
    case CANCEL_BY_USER:
        return "stopped by its user";
    case CANCEL_BY_STEP:
        return "stopped by its step (fail_fast: kill)";
    default:
        return "stopped by smtune";
    }
}

/* Without a retry rule. */
static void describe_unruled(const struct attempts *attempts,
                             const struct attempt_row *attempt, bool again,
                             struct buf *out)
{
    struct attempt_exit exit;

    if (links_read_exit(attempt, &exit) != 0)
        return;
    retry_print_free(&exit, &attempts->free_starts, out); /* it is counted */
    if (out->length == 0 && exit.is_outside)
        buf_add_string(out, "cancelled outside smtune");
    else if (out->length == 0 && exit.cause == CAUSE_CANCELLED)
        buf_add_string(out, canceller(attempts->why));
    if (out->length > 0)
        buf_add_string(out, ": ");
    buf_add_string(out, again ? "started again, which used no retry"
                        : exit.cause == CAUSE_CANCELLED && !exit.is_outside
                            ? "it is over"
                            : "no retry rule matches");
}

static void count_free_start(struct attempts *attempts,
                             const struct attempt_row *attempt)
{
    struct attempt_exit exit;

    if (attempt->cause != NULL && links_read_exit(attempt, &exit) == 0)
        retry_free_start(&exit, &attempts->free_starts);
}

static void follow_rule(const struct attempts *attempts,
                        const struct attempt_row *attempt, bool again,
                        struct consequence *then)
{
    const struct step *step = step_of(attempts->why);
    int64_t rule = attempt->rule - attempts->why->view->row.retry_base;
    bool is_own = step == NULL || rule < (int64_t)step->task.retry_count;

    if (attempt->rule < 0) {
        describe_unruled(attempts, attempt, again, &then->text);
        return;
    }
    if (rule < 0) {
        buf_add_string(&then->text, "a retry rule of an earlier file");
    } else if (is_own) {
        then->line = line_in_file(attempts->why, "retry", rule);
        buf_printf(&then->text, "retry rule %" PRId64, rule + 1);
    } else {
        buf_add_string(&then->text, "the built-in rule");
    }
    buf_add_string(&then->text, again ? ": retried" : ": no retries left");
}

/* Whether it was a link of `continue`, or would have been. */
static bool follow_link(struct attempts *attempts,
                        const struct attempt_row *attempt,
                        struct consequence *then)
{
    const struct step *step = step_of(attempts->why);
    struct attempt_exit exit;
    char text[LINKS_TEXT_MAX] = "";
    enum link_verdict verdict;

    if (step == NULL || step->link.max == 0 ||
        links_read_exit(attempt, &exit) != 0)
        return false;
    verdict =
        links_end(&attempts->links, &step->link,
                  &(struct link_end){.exit = &exit,
                                     .time_ms = step->task.resources.time_ms,
                                     .checkpoint = attempt->checkpoint},
                  text);
    if (verdict == LINK_NONE || exit.cause == CAUSE_OK)
        return false;
    then->line = line_in_file(attempts->why, "continue", -1);
    if (verdict == LINK_FOLLOWS)
        buf_printf(&then->text, "link %" PRId64 " of %" PRId64,
                   attempts->links.count, step->link.max);
    else
        buf_printf(&then->text, "no more links: %s", text);
    return true;
}

static int add_attempt(void *user, const struct attempt_row *attempt)
{
    struct attempts *attempts = user;
    const struct why *why = attempts->why;
    bool again = attempt->number < attempts->count || !attempts->is_over;
    bool is_ok = attempt->cause != NULL && strcmp(attempt->cause, "ok") == 0;
    struct consequence then = {.text = BUF_INIT};
    char checkpoint[HASH_SHOWN + 1] = "";
    int status;

    count_free_start(attempts, attempt);
    if (attempt->checkpoint != NULL)
        snprintf(checkpoint, sizeof(checkpoint), "%s", attempt->checkpoint);

    if (attempt->cause != NULL && !follow_link(attempts, attempt, &then) &&
        !is_ok)
        follow_rule(attempts, attempt, again, &then);
    status = document_row(why->document,
                          (const struct value[ARRAY_LEN(attempt_columns)]){
                              value_int(attempt->number),
                              value_text_unless_empty(attempt->cause),
                              attempt->cause != NULL && attempt->exit_code >= 0
                                  ? value_int(attempt->exit_code)
                                  : value_null(),
                              value_int_unless(attempt->signal, 0),
                              value_text_unless_empty(checkpoint),
                              value_text_unless_empty(buf_text(&then.text)),
                              value_int_unless(then.line, 0),
                          },
                          why->err);
    buf_clear(&then.text);
    return status;
}

static int count_attempt(void *user, const struct attempt_row *attempt)
{
    ((struct attempts *)user)->count = attempt->number;
    return 0;
}

static int add_attempts(const struct why *why)
{
    struct store *store = why->view->store;
    int64_t run = why->view->row.id;
    int64_t job = why->job.id;
    struct attempts attempts = {.why = why, .is_over = why->job.is_over};

    document_begin_list(why->document, "attempts", attempt_columns,
                        ARRAY_LEN(attempt_columns));
    if (store_each_attempt(store, run, job, count_attempt, &attempts,
                           why->err) < 0 ||
        store_each_attempt(store, run, job, add_attempt, &attempts, why->err) <
            0)
        return -1;
    return document_end_list(why->document, why->err);
}

/* ---- all ---- */

static int add_all(struct why *why)
{
    const struct trial_query query = {.run = why->view->row.id,
                                      .number = why->job.number};
    int status = why->job.id == 0
                     ? add_step_head(why)
                     : store_each_trial(why->view->store, &query, add_job_head,
                                        why, why->err);

    if (status == 0)
        status = add_rules(why);
    if (status == 0)
        status = add_needs(why);
    if (status == 0 && why->job.id != 0)
        status = add_attempts(why);
    return status;
}

int why_job_add(struct document *document, const struct run_view *view,
                const char *operand, struct err *err)
{
    struct why why = {.document = document, .view = view, .err = err};
    const char *text = run_row_spec(&view->row);
    int status = run_steps_load(&why.steps, view->store, view->row.id, err);

    if (status == 0)
        status = run_jobs_find_part(view, &why.steps, operand, &why.job, err);
    why.file = conf_parse(text, strlen(text), NULL);
    if (status == 0)
        status = add_all(&why);
    conf_destroy(why.file);
    run_job_clear(&why.job);
    run_steps_clear(&why.steps);
    return status;
}
