/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/dashboard_source.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/serve/dashboard_act.h"
#include "cli/serve/dashboard_machine.h"
#include "cli/serve/front_json.h"
#include "cli/serve/run_origin.h"
#include "cli/show/jobs/graph_json.h"
#include "cli/show/run/experiment_json.h"
#include "cli/show/run/importance_view.h"
#include "cli/show/run/run_view.h"
#include "cli/show/show_document.h"
#include "cli/show/why_document.h"
#include "cli/term/document.h"
#include "orchestrator/machine/gpu_meter.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/spec_mask.h"

enum { KEPT = 16 };

/* A document that takes long to make, until the run has another result. */
struct kept {
    int64_t run, results; /* run 0: none */
    uint64_t used;        /* when it was asked for last */
    json_t *json;
};

struct source_user {
    struct cli cli;
    char *store;
    struct gpu_meter *gpu_meter;
    pthread_mutex_t lock; /* of what is below */
    struct kept kept[KEPT];
    uint64_t clock;
};

struct source_user *source_user_create(const char *store)
{
    struct source_user *user = mem_zero(sizeof(*user));

    user->store = mem_copy_string(store);
    user->gpu_meter = gpu_meter_create();
    user->cli = (struct cli){
        .store = user->store, .output = OUTPUT_JSON, .quiet = true};
    pthread_mutex_init(&user->lock, NULL);
    return user;
}

void source_user_destroy(struct source_user *user)
{
    if (user == NULL)
        return;
    for (size_t i = 0; i < KEPT; i++)
        json_decref(user->kept[i].json);
    pthread_mutex_destroy(&user->lock);
    gpu_meter_destroy(user->gpu_meter);
    free(user->store);
    free(user);
}

/* ---- documents that a command adds to ---- */

typedef int add_function(struct document *document, const struct cli *cli,
                         const struct run_view *view, const char *operand,
                         struct err *err);

static json_t *make(const struct source_user *user, const struct run_view *view,
                    add_function *add, const char *operand, struct err *err)
{
    struct document *document = document_create(&user->cli);
    json_t *json = NULL;

    if (add(document, &user->cli, view, operand, err) == 0)
        json = document_take(document);
    document_destroy(document);
    return json;
}

static json_t *make_part(const struct source_user *user, struct store *store,
                         int64_t run, int64_t number, add_function *add,
                         struct err *err)
{
    struct run_view view;
    char operand[24];
    json_t *json = NULL;

    snprintf(operand, sizeof(operand), "%" PRId64, number);
    if (run_view_load_uncounted(&view, store, run, err) == 0)
        json = make(user, &view, add, operand, err);
    run_view_clear(&view);
    return json;
}

static json_t *source_job(void *user, struct store *store, int64_t run,
                          int64_t number, struct err *err)
{
    return make_part(user, store, run, number, show_document_add_part, err);
}

static int add_why(struct document *document, const struct cli *cli,
                   const struct run_view *view, const char *operand,
                   struct err *err)
{
    (void)cli;
    return why_document_add(document, view, operand, err);
}

static json_t *source_why(void *user, struct store *store, int64_t run,
                          int64_t number, struct err *err)
{
    return make_part(user, store, run, number, add_why, err);
}

/* ---- the run ---- */

static int add_run(struct document *document, const struct cli *cli,
                   const struct run_view *view, const char *operand,
                   struct err *err)
{
    (void)operand;
    return show_document_add_run(document, cli, view, err);
}

static int set_parent(void *user, const struct run_row *row)
{
    json_object_set_new(user, "id", json_integer(row->id));
    json_object_set_new(user, "name", json_from_text(row->name));
    return 0;
}

/* The run, and the job of it, that started this one; null: a person did. */
static json_t *parent_to_json(const struct run_view *view)
{
    const struct run_row *row = &view->row;
    int64_t number = 0;
    json_t *parent;

    if (row->parent_id == 0)
        return json_null();
    parent = json_object();
    store_get_run_uncounted(view->store, row->parent_id, set_parent, parent,
                            NULL);
    store_find_job_number(view->store, row->parent_job, &number, NULL);
    json_object_set_new(parent, "job", json_int_unless(number, 0));
    return parent;
}

static void add_record(json_t *json, const struct run_view *view)
{
    const struct run_row *row = &view->row;
    struct buf spec = BUF_INIT;

    spec_mask_text(run_row_spec(row), &spec);
    json_object_set_new(json, "spec", json_from_text(buf_text(&spec)));
    buf_clear(&spec);
    json_object_set_new(json, "message", json_text_unless_empty(row->note));
    json_object_set_new(json, "engine_pid",
                        json_int_unless(view->engine_pid, 0));
    json_object_set_new(json, "parent", parent_to_json(view));
    json_object_set_new(json, "repeats",
                        json_integer(row->repeats > 1 ? row->repeats : 1));
    json_object_set_new(json, "objectives",
                        objectives_to_json(view->metrics, view->goals));
}

static void add_file(json_t *json, const struct run_view *view)
{
    struct spec spec;
    struct err problem;

    if (run_read_spec(view->store, view->row.id, &spec, &problem) != 0) {
        struct buf shown = BUF_INIT; /* it may quote the file */

        mask_add(NULL, problem.text, strlen(problem.text), &shown);
        json_object_set_new(json, "problem", json_from_text(buf_text(&shown)));
        buf_clear(&shown);
        return;
    }
    if (spec.workflow == NULL)
        json_object_set_new(json, "space", search_space_json(spec.experiment));
    json_object_set_new(json, "budget", budget_to_json(spec.experiment));
    spec_clear(&spec);
}

static json_t *source_run(void *user, struct store *store, int64_t run,
                          struct err *err)
{
    struct run_view view;
    json_t *json = NULL;

    if (run_view_load(&view, store, run, err) == 0)
        json = make(user, &view, add_run, NULL, err);
    if (json != NULL) {
        add_record(json, &view);
        add_file(json, &view);
    }
    run_view_clear(&view);
    return json;
}

static json_t *source_origin(void *user, struct store *store, int64_t run,
                             struct err *err)
{
    struct run_view view;
    json_t *json = NULL;

    (void)user;
    if (run_view_load_uncounted(&view, store, run, err) == 0)
        json = run_origin_to_json(store, &view.row, err);
    run_view_clear(&view);
    return json;
}

static json_t *source_graph(void *user, struct store *store, int64_t run,
                            struct err *err)
{
    const struct source_user *this = user;
    struct run_view view;
    json_t *json = NULL;

    if (run_view_load_uncounted(&view, store, run, err) == 0)
        json = graph_to_json(&this->cli, &view, err);
    run_view_clear(&view);
    return json;
}

/* ---- several objectives ---- */

static json_t *source_front(void *user, struct store *store, int64_t run,
                            struct err *err)
{
    struct run_view view;
    json_t *json = NULL;

    (void)user;
    if (run_view_load_uncounted(&view, store, run, err) == 0)
        json = front_to_json(&view, err);
    run_view_clear(&view);
    return json;
}

/* ---- importance ---- */

/* Jansson counts references safely among threads, and what is kept is changed
 * by nobody. NULL: it is not there. */
static json_t *find_kept(struct source_user *user, int64_t run, int64_t results)
{
    json_t *found = NULL;

    pthread_mutex_lock(&user->lock);
    for (size_t i = 0; i < KEPT; i++) {
        struct kept *kept = &user->kept[i];

        if (kept->run != run || kept->results != results)
            continue;
        kept->used = ++user->clock;
        found = json_incref(kept->json);
    }
    pthread_mutex_unlock(&user->lock);
    return found;
}

/* In place of the run's older one, or of what was not asked for the longest. */
static void keep(struct source_user *user, int64_t run, int64_t results,
                 json_t *json)
{
    struct kept *place = &user->kept[0];

    pthread_mutex_lock(&user->lock);
    for (size_t i = 0; i < KEPT; i++) {
        if (user->kept[i].run == run) {
            place = &user->kept[i];
            break;
        }
        if (user->kept[i].used < place->used)
            place = &user->kept[i];
    }
    json_decref(place->json);
    *place = (struct kept){run, results, ++user->clock, json_incref(json)};
    pthread_mutex_unlock(&user->lock);
}

static int add_importance(struct document *document, const struct cli *cli,
                          const struct run_view *view, const char *operand,
                          struct err *err)
{
    (void)operand;
    return importance_view_add_whole(document, cli, view, err);
}

static json_t *importance_of_view(struct source_user *user,
                                  const struct run_view *view, struct err *err)
{
    int64_t run = view->row.id, results = view->row.succeeded;
    json_t *json;

    if (run_is_workflow(&view->row)) {
        err_set(err, ERR_USAGE, "run '%s' is a workflow and has no trials",
                view->row.name);
        return NULL;
    }
    json = find_kept(user, run, results);
    if (json != NULL)
        return json;
    json = make(user, view, add_importance, NULL, err);
    if (json != NULL)
        keep(user, run, results, json);
    return json;
}

static json_t *source_importance(void *user, struct store *store, int64_t run,
                                 struct err *err)
{
    struct run_view view;
    json_t *json = NULL;

    if (run_view_load(&view, store, run, err) == 0)
        json = importance_of_view(user, &view, err);
    run_view_clear(&view);
    return json;
}

static void source_mask_detail(void *user, json_t *detail)
{
    (void)user;
    spec_mask_detail(detail, false);
}

static json_t *source_machine(void *user, struct store *store, struct err *err)
{
    const struct source_user *this = user;

    return machine_to_json(store, this->gpu_meter, err);
}

static json_t *source_act(void *user, int64_t run, const char *verb,
                          const json_t *body, struct err *err)
{
    const struct source_user *this = user;

    return dashboard_act(this->store, run, verb, body, err);
}

static const char *source_run_state(void *user, const struct store *store,
                                    const struct run_row *row)
{
    int64_t pid;

    (void)user;
    return run_state_shown(store, row, &pid);
}

void source_set_documents(struct dashboard_source *source,
                          struct source_user *user)
{
    source->user = user;
    source->run_state = source_run_state;
    source->run = source_run;
    source->front = source_front;
    source->origin = source_origin;
    source->job = source_job;
    source->why = source_why;
    source->importance = source_importance;
    source->graph = source_graph;
    source->mask_detail = source_mask_detail;
    source->machine = source_machine;
    source->act = source_act;
}
