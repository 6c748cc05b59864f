/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/dashboard_act.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/drive/child_runs.h"
#include "cli/drive/enqueue_setting.h"
#include "cli/show/jobs/job_numbers.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/run/control_link.h"
#include "orchestrator/run/control_once.h"
#include "store/store.h"

enum { LIMIT_MS = 5000, JOBS_MAX = 10000, FIELDS_MAX = 4 };

/* What is done, and to which run. */
struct acting {
    struct store *store;
    int64_t run;
    char *name, *directory;
    bool is_workflow;
    bool is_over, has_succeeded; /* by the record */
    const json_t *body;
};

/* ---- the body ---- */

enum field_type {
    FIELD_BOOL,
    FIELD_TEXT,
    FIELD_NUMBER,
    FIELD_NUMBERS,
    FIELD_TEXTS,
    FIELD_OBJECT
};

struct field {
    const char *name; /* NULL ends */
    enum field_type type;
};

static bool is_number(const json_t *json)
{
    return json_is_integer(json) && json_integer_value(json) > 0;
}

static bool is_text(const json_t *json)
{
    return json_is_string(json);
}

static bool is_list(const json_t *json, bool (*is_item)(const json_t *item))
{
    if (!json_is_array(json) || json_array_size(json) > JOBS_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(json); i++) {
        if (!is_item(json_array_get(json, i)))
            return false;
    }
    return true;
}

static int check_field(const struct field *field, const json_t *json,
                       struct err *err)
{
    static const char *const kinds[] = {
        [FIELD_BOOL] = "true or false",
        [FIELD_TEXT] = "a text",
        [FIELD_NUMBER] = "a job's number",
        [FIELD_NUMBERS] = "a list of jobs' numbers",
        [FIELD_TEXTS] = "a list of texts",
        [FIELD_OBJECT] = "an object",
    };
    const bool is_right[] = {
        [FIELD_BOOL] = json_is_boolean(json),
        [FIELD_TEXT] = json_is_string(json),
        [FIELD_NUMBER] = is_number(json),
        [FIELD_NUMBERS] = is_list(json, is_number),
        [FIELD_TEXTS] = is_list(json, is_text),
        [FIELD_OBJECT] = json_is_object(json),
    };

    return is_right[field->type] ? 0
                                 : err_set(err, ERR_USAGE, "'%s' is %s",
                                           field->name, kinds[field->type]);
}

/* Nothing but these may stand there. */
static int check_body(const json_t *body, const struct field *fields,
                      struct err *err)
{
    const char *names[FIELDS_MAX];
    const char *key;
    json_t *json;
    size_t count = 0;

    while (fields[count].name != NULL) {
        names[count] = fields[count].name;
        count++;
    }
    /* jansson walks over what it may change */
    json_object_foreach((json_t *)(uintptr_t)body, key, json)
    {
        size_t i = 0;

        while (i < count && strcmp(names[i], key) != 0)
            i++;
        if (i == count && count == 0)
            return err_set(err, ERR_USAGE, "unknown field '%.100s'", key);
        if (i == count)
            return text_unknown("field", key, names, count, ERR_USAGE, err);
        if (check_field(&fields[i], json, err) != 0)
            return -1;
    }
    return 0;
}

static bool flag(const struct acting *acting, const char *name)
{
    return json_is_true(json_object_get(acting->body, name));
}

/* ---- by the engine ---- */

/* There is none: ERR_BUSY with what to do, of which the run is the last word.
 */
static void refuse(const struct acting *acting, const char *without_engine,
                   struct err *err)
{
    if (acting->is_over)
        err_set(err, ERR_BUSY, "run '%s' has ended: nothing is running",
                acting->name);
    else
        err_set(err, ERR_BUSY, "run '%s' has no engine: %s %s", acting->name,
                without_engine, acting->name);
}

/* NULL where it refuses, or there is none. */
static json_t *ask_engine(const struct acting *acting, json_t *request,
                          const char *without_engine, struct err *err)
{
    json_t *reply = NULL;
    int result =
        control_call_within(acting->directory, request, LIMIT_MS, &reply, err);

    if (result < 0)
        err_prefix(err, "run '%s'", acting->name);
    else if (result > 0)
        refuse(acting, without_engine, err);
    return reply;
}

/* The same for what must not be done twice. */
static json_t *ask_engine_once(const struct acting *acting, json_t *request,
                               const char *without_engine, struct err *err)
{
    const struct control_order order = {acting->store, acting->run,
                                        acting->directory, LIMIT_MS};
    json_t *reply = NULL;
    enum control_outcome outcome =
        control_call_once(&order, request, &reply, err);

    if (outcome == CONTROL_ERROR)
        err_prefix(err, "run '%s'", acting->name);
    else if (outcome == CONTROL_NO_ENGINE)
        refuse(acting, without_engine, err);
    return reply;
}

/* The same for the runs that it has started. */
static void tell_children(const struct acting *acting, const json_t *reply,
                          json_t *request)
{
    if (reply != NULL && acting->is_workflow)
        child_runs_tell(acting->store, acting->run, request);
    else
        json_decref(request);
}

static json_t *act_stop(struct acting *acting, struct err *err)
{
    return ask_engine(acting,
                      json_pack("{s:s, s:b}", "op", "stop", "drain",
                                (int)flag(acting, "drain")),
                      "stop its remaining trials in a terminal: smtune stop",
                      err);
}

static json_t *act_pause(struct acting *acting, struct err *err)
{
    json_t *request =
        json_pack("{s:s, s:b}", "op", "pause", "now", (int)flag(acting, "now"));
    json_t *reply = ask_engine(acting, json_incref(request),
                               "start it in a terminal: smtune resume", err);

    tell_children(acting, reply, request);
    return reply;
}

static json_t *act_resume(struct acting *acting, struct err *err)
{
    json_t *request = json_pack("{s:s}", "op", "resume");
    json_t *reply;

    acting->is_over = acting->has_succeeded;
    reply = ask_engine(acting, json_incref(request),
                       "in a terminal: smtune resume", err);
    tell_children(acting, reply, request);
    return reply;
}

/* The jobs of a step that failed, or the copy that is named. */
static int add_step(const struct acting *acting, struct job_numbers *numbers,
                    struct err *err)
{
    const char *step = json_string_value(json_object_get(acting->body, "step"));
    char *operand = mem_copy_string(step);
    struct run_view view;
    int result = 0;

    if (operand == NULL)
        return 0;
    if (!acting->is_workflow) {
        result = err_set(err, ERR_USAGE, "run '%s' has no steps", acting->name);
    } else {
        result = run_view_load(&view, acting->store, acting->run, err);
        if (result == 0)
            result = job_numbers_find(&view, &operand, 1, flag(acting, "force"),
                                      numbers, err);
        run_view_clear(&view);
    }
    free(operand);
    return result;
}

static json_t *act_retry(struct acting *acting, struct err *err)
{
    const json_t *jobs = json_object_get(acting->body, "jobs");
    struct job_numbers numbers = {0};
    json_t *reply = NULL, *list;

    for (size_t i = 0; i < json_array_size(jobs); i++)
        job_numbers_add(&numbers, json_integer_value(json_array_get(jobs, i)));
    if (add_step(acting, &numbers, err) == 0) {
        list = json_array();
        for (size_t i = 0; i < numbers.count; i++)
            json_array_append_new(list, json_integer(numbers.items[i]));
        acting->is_over = false;
        reply = ask_engine_once(
            acting,
            json_pack("{s:s, s:o, s:b, s:b}", "op", "retry", "trials", list,
                      "failed", (int)flag(acting, "failed"), "force",
                      (int)flag(acting, "force")),
            flag(acting, "failed") ? "in a terminal: smtune retry --failed"
                                   : "in a terminal: smtune retry",
            err);
    }
    job_numbers_clear(&numbers);
    return reply;
}

/* By the engine, or in the record. */
static json_t *act_enqueue(struct acting *acting, struct err *err)
{
    const struct enqueue_order order = {
        .run = acting->run,
        .run_name = acting->name,
        .has_succeeded = acting->has_succeeded,
        .params = json_object_get(acting->body, "params"),
        .limit_ms = LIMIT_MS};
    struct enqueue_reply reply;

    if (order.params == NULL) {
        err_set(err, ERR_USAGE, "missing field 'params'");
        return NULL;
    }
    if (enqueue_setting(acting->store, &order, &reply, err) != 0)
        return NULL;
    return json_pack("{s:b, s:I}", "ok", 1, "enqueued",
                     (json_int_t)reply.index);
}

/* ---- in the record ---- */

/* A job's id by its number. */
static int find_job(const struct acting *acting, const json_t *json,
                    int64_t *job, struct err *err)
{
    int64_t number = json_integer_value(json);

    if (store_find_job(acting->store, acting->run, number, job, err) != 0)
        return -1;
    return *job != 0 ? 0
                     : err_set(err, ERR_NOT_FOUND,
                               "run '%s' has no %s %" PRId64, acting->name,
                               acting->is_workflow ? "job" : "trial", number);
}

static json_t *act_note(struct acting *acting, struct err *err)
{
    const json_t *number = json_object_get(acting->body, "job");
    const json_t *text = json_object_get(acting->body, "text");
    int64_t job = 0;

    if (text == NULL) {
        err_set(err, ERR_USAGE, "missing field 'text'");
        return NULL;
    }
    if ((number != NULL && find_job(acting, number, &job, err) != 0) ||
        store_begin(acting->store, err) != 0 ||
        store_set_comment(acting->store, acting->run, job,
                          json_string_value(text), clock_wall_ms(), err) != 0 ||
        store_commit(acting->store, err) != 0)
        return NULL;
    return json_pack("{s:b}", "ok", 1);
}

static int tag_all(struct acting *acting, struct tag_change *change,
                   struct err *err)
{
    const json_t *jobs = json_object_get(acting->body, "jobs");
    int result = store_begin(acting->store, err);

    if (jobs == NULL && result == 0)
        result = store_change_tags(acting->store, change, err);
    for (size_t i = 0; i < json_array_size(jobs) && result == 0; i++) {
        result = find_job(acting, json_array_get(jobs, i), &change->job, err);
        if (result == 0)
            result = store_change_tags(acting->store, change, err);
    }
    return result == 0 ? store_commit(acting->store, err) : -1;
}

static json_t *act_tag(struct acting *acting, struct err *err)
{
    struct tag_change change = {.run = acting->run, .time_ms = clock_wall_ms()};
    const char **add =
        json_texts(json_object_get(acting->body, "add"), &change.add_count);
    const char **remove = json_texts(json_object_get(acting->body, "remove"),
                                     &change.remove_count);
    int result;

    change.add = add;
    change.remove = remove;
    result = tag_all(acting, &change, err);
    free(add);
    free(remove);
    return result == 0 ? json_pack("{s:b}", "ok", 1) : NULL;
}

/* ---- all of them ---- */

static const struct field stop_fields[] = {{"drain", FIELD_BOOL}, {NULL, 0}};
static const struct field pause_fields[] = {{"now", FIELD_BOOL}, {NULL, 0}};
static const struct field resume_fields[] = {{NULL, 0}};
static const struct field retry_fields[] = {{"jobs", FIELD_NUMBERS},
                                            {"step", FIELD_TEXT},
                                            {"failed", FIELD_BOOL},
                                            {"force", FIELD_BOOL},
                                            {NULL, 0}};
static const struct field enqueue_fields[] = {{"params", FIELD_OBJECT},
                                              {NULL, 0}};
static const struct field note_fields[] = {
    {"job", FIELD_NUMBER}, {"text", FIELD_TEXT}, {NULL, 0}};
static const struct field tag_fields[] = {{"jobs", FIELD_NUMBERS},
                                          {"add", FIELD_TEXTS},
                                          {"remove", FIELD_TEXTS},
                                          {NULL, 0}};

static const struct verb {
    const char *name;
    const struct field *fields;
    enum store_mode mode;
    json_t *(*act)(struct acting *acting, struct err *err);
} verbs[] = {
    {"stop", stop_fields, STORE_READ, act_stop},
    {"pause", pause_fields, STORE_READ, act_pause},
    {"resume", resume_fields, STORE_READ, act_resume},
    {"retry", retry_fields, STORE_READ, act_retry},
    {"enqueue", enqueue_fields, STORE_READ, act_enqueue},
    {"note", note_fields, STORE_WRITE, act_note},
    {"tag", tag_fields, STORE_WRITE, act_tag},
};

static int keep_run(void *user, const struct run_row *row)
{
    struct acting *acting = user;

    acting->name = mem_copy_string(row->name);
    acting->is_workflow = run_is_workflow(row);
    acting->is_over = row->ended_ms != 0;
    acting->has_succeeded = run_has_succeeded(row);
    return 0;
}

static json_t *act(const struct verb *verb, const char *store,
                   struct acting *acting, struct err *err)
{
    json_t *reply = NULL;

    acting->store = store_open(store, verb->mode, err);
    if (acting->store == NULL)
        return NULL;
    if (store_get_run_uncounted(acting->store, acting->run, keep_run, acting,
                                err) == 0) {
        acting->directory = store_run_directory(acting->store, acting->name);
        reply = verb->act(acting, err);
    }
    store_close(acting->store);
    free(acting->name);
    free(acting->directory);
    return reply;
}

json_t *dashboard_act(const char *store, int64_t run, const char *verb,
                      const json_t *body, struct err *err)
{
    struct acting acting = {.run = run, .body = body};
    const char *names[ARRAY_LEN(verbs)];

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        names[i] = verbs[i].name;
        if (strcmp(verbs[i].name, verb) == 0)
            return check_body(body, verbs[i].fields, err) == 0
                       ? act(&verbs[i], store, &acting, err)
                       : NULL;
    }
    text_unknown("verb", verb, names, ARRAY_LEN(verbs), ERR_NOT_FOUND, err);
    return NULL;
}
