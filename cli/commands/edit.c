/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune edit`. The file is compared here first, to show what differs. Then
 * the owner of the run compares again and records: the engine, or this process
 * with the engine's lock. The request names the file and its digest, so that
 * both compare the same text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"
#include "orchestrator/run/control_once.h"
#include "orchestrator/run/edit.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec_mask.h"
#include "store/store.h"

enum { LIMIT_MS = 20000 }; /* a disk may be slow, or the engine busy */

struct options {
    struct opt_texts set;
    bool dry_run;
};

static const struct opt opts[] = {
    {"set", 0, OPT_TEXTS, offsetof(struct options, set), "KEY=VALUE",
     "set a key on top of the file; may be repeated", 0, NULL},
    {"dry-run", 'n', OPT_FLAG, offsetof(struct options, dry_run), NULL,
     "only show the changes", 0, NULL},
    {0},
};

struct editing {
    const struct cli *cli;
    const struct run_view *view;
    struct run_edit_order order;
    struct run_edit edit;
};

/* ---- the table ---- */

static const struct table_column columns[] = {
    {"key", NULL, COLUMN_TEXT, NULL},
    {"before", NULL, COLUMN_JSON, NULL},
    {"after", NULL, COLUMN_JSON, NULL},
    {"refused", NULL, COLUMN_TEXT, NULL},
};

/* For people a text is itself, without quotes. Secrets are masked. */
static void print_value(const struct editing *editing, const char *key,
                        const json_t *json, struct buf *out)
{
    bool is_workflow = editing->edit.spec.workflow != NULL;
    struct buf shown = BUF_INIT;
    json_t *masked;

    if (json == NULL)
        return;
    spec_mask_value(is_workflow, key, json, &shown);
    masked = json_parse(buf_text(&shown), shown.length, NULL);
    if (editing->cli->output == OUTPUT_TABLE && json_is_string(masked))
        buf_add_string(out, json_string_value(masked));
    else
        buf_add_string(out, buf_text(&shown));
    json_decref(masked);
    buf_clear(&shown);
}

static int show_change(struct output *output, const struct editing *editing,
                       const struct spec_change *change, struct err *err)
{
    struct buf before = BUF_INIT, after = BUF_INIT;
    int result;

    print_value(editing, change->key, change->before, &before);
    print_value(editing, change->key, change->after, &after);
    result = output_row(
        output,
        (const struct value[]){
            value_text(change->key),
            change->before != NULL ? value_text(buf_text(&before))
                                   : value_null(),
            change->after != NULL ? value_text(buf_text(&after)) : value_null(),
            value_text_or_null(change->refused)},
        err);
    buf_clear(&before);
    buf_clear(&after);
    return result;
}

static int show(const struct editing *editing, struct err *err)
{
    const struct spec_changes *changes = &editing->edit.changes;
    bool has_refused = spec_changes_refused(changes) != NULL;
    size_t count = ARRAY_LEN(columns) -
                   (editing->cli->output == OUTPUT_TABLE && !has_refused);
    struct output *output = output_create(editing->cli, columns, count);

    output_when_empty(output, "no changes");
    for (size_t i = 0; i < changes->count; i++) {
        if (show_change(output, editing, &changes->items[i], err) != 0) {
            output_destroy(output);
            return -1;
        }
    }
    return output_finish(output, err);
}

static void show_overridden(const struct editing *editing)
{
    const struct spec_changes *changes = &editing->edit.changes;

    for (size_t i = 0; i < changes->overridden_count && !editing->cli->quiet;
         i++)
        fprintf(stderr,
                "smtune: '%s' stays as --set or a configuration file gave it "
                "(change it: smtune edit %s --set %s=VALUE)\n",
                changes->overridden[i], editing->view->row.name,
                changes->overridden[i]);
}

/* ---- the edit ---- */

static json_t *request_json(const struct editing *editing)
{
    json_t *set = json_array();

    for (size_t i = 0; i < editing->order.set_count; i++)
        json_array_append_new(set, json_from_text(editing->order.set[i]));
    return json_pack("{s:s, s:o, s:s, s:o}", "op", "edit", "path",
                     json_from_text(editing->edit.path), "digest",
                     editing->edit.digest, "set", set);
}

static enum control_outcome edit_live(const struct editing *editing,
                                      struct run_edit_again *again,
                                      struct err *err)
{
    const struct run_view *view = editing->view;
    char *directory = store_run_directory(view->store, view->row.name);
    const struct control_order order = {view->store, view->row.id, directory,
                                        LIMIT_MS};
    json_t *reply = NULL;
    enum control_outcome outcome =
        control_call_once(&order, request_json(editing), &reply, err);

    again->jobs = json_integer_value(json_object_get(reply, "again"));
    again->steps = json_integer_value(json_object_get(reply, "steps"));
    json_decref(reply);
    free(directory);
    return outcome;
}

/* Holding the run's lock, so that no engine begins meanwhile. */
static int edit_here(const struct editing *editing,
                     struct run_edit_again *again, struct err *err)
{
    struct store *store = store_open(editing->cli->store, STORE_WRITE, err);
    struct diags *diags = diags_create(editing->order.path);
    struct run_edit edit = {.path = NULL};
    struct run *run = NULL;
    int result = -1;

    if (store != NULL)
        run = run_open(store, editing->view->row.id, diags, err);
    if (run != NULL) {
        const struct spec now = {run->experiment, run->workflow};

        result = run_edit_read(&now, &editing->order, &edit, diags, err);
        if (result == 0)
            result = run_edit_make(run, &edit, again, err);
    }
    if (result != 0 && diags_count(diags) > 0)
        diags_to_err(diags, err);
    run_edit_clear(&edit);
    run_close(run);
    diags_destroy(diags);
    store_close(store);
    return result;
}

static void say(const struct editing *editing, bool is_live,
                const struct run_edit_again *again)
{
    const char *name = editing->view->row.name;
    size_t count = editing->edit.changes.count;

    if (editing->cli->quiet)
        return;
    fprintf(stderr, "smtune: run '%s': %zu key%s changed%s", name, count,
            units_plural((int64_t)count),
            editing->edit.brings_secrets ? ", secrets are no longer masked"
                                         : "");
    if (again->jobs > 0)
        fprintf(stderr, ", %" PRId64 " job%s again", again->jobs,
                again->jobs == 1 ? " runs" : "s run");
    if (again->steps > 0)
        fprintf(stderr, ", %" PRId64 " step%s again", again->steps,
                again->steps == 1 ? " begins" : "s begin");
    if (is_live)
        fprintf(stderr, "; jobs that run keep the command they started with\n");
    else
        fprintf(stderr,
                " (continue: smtune resume %s; failed %s again: smtune "
                "retry %s --failed)\n",
                name, editing->edit.spec.workflow != NULL ? "jobs" : "trials",
                name);
}

static int apply(const struct editing *editing, struct err *err)
{
    struct run_edit_again again = {.jobs = 0};
    enum control_outcome outcome = edit_live(editing, &again, err);
    int result = outcome == CONTROL_ERROR ? -1 : 0;

    if (outcome == CONTROL_NO_ENGINE)
        result = edit_here(editing, &again, err);
    if (result != 0)
        return err_prefix(err, "run '%s'", editing->view->row.name);
    say(editing, outcome == CONTROL_DONE, &again);
    return 0;
}

static int check(const struct editing *editing, struct err *err)
{
    const struct run_view *view = editing->view;
    struct run_edit_place place = {
        .store = view->store, .run = view->row.id, .begun = view->row.trials};

    if (editing->edit.resets_time &&
        store_engines_ms(view->store, view->row.id, &place.used_ms, err) != 0)
        return -1;
    if (run_edit_check(&editing->edit, &place, err) != 0)
        return err_prefix(err, "run '%s'", view->row.name);
    return 0;
}

static int edit(struct editing *editing, const struct spec *now, bool dry_run,
                struct err *err)
{
    struct diags *diags = diags_create(editing->order.path);
    int result =
        run_edit_read(now, &editing->order, &editing->edit, diags, err);

    if (result != 0 && diags_count(diags) > 0)
        result = foreground_print_diags(editing->cli, diags);
    diags_destroy(diags);
    if (result != 0)
        return result;
    show_overridden(editing);
    result = show(editing, err);
    if (result == 0)
        result = check(editing, err);
    if (result != 0 || dry_run ||
        (editing->edit.changes.count == 0 && !editing->edit.brings_secrets))
        return result;
    return apply(editing, err);
}

/* What the run follows now. */
static int read_now(const struct run_view *view, const char *path,
                    struct spec *now, struct err *err)
{
    const char *name = view->row.name;

    if (run_row_is_asked(&view->row))
        return err_set(err, ERR_USAGE,
                       "run '%s' cannot be edited, because other programs run "
                       "its trials (change its budget: smtune suggest --stdio "
                       "--record %s --trials N)",
                       name, name);
    if (path[0] == '\0')
        return err_set(err, ERR_USAGE,
                       "run '%s' was not started from a file: name one", name);
    return run_read_spec(view->store, view->row.id, now, err);
}

static int exec_edit(const struct cli *cli, const void *given, char **operands,
                     int count, struct err *err)
{
    const struct options *options = given;
    struct run_view view;
    struct spec now = {NULL, NULL};
    struct editing editing = {
        .cli = cli,
        .view = &view,
        .order = {.set = options->set.items, .set_count = options->set.count},
    };
    int result = run_view_open(&view, cli, operands[0], err);

    if (result == 0) {
        editing.order.path = count > 1 ? operands[1] : view.row.spec_path;
        result = read_now(&view, editing.order.path, &now, err);
    }
    if (result == 0)
        result = edit(&editing, &now, options->dry_run, err);
    run_edit_clear(&editing.edit);
    spec_clear(&now);
    run_view_close(&view);
    return result;
}

const struct cmd cmd_edit = {
    .name = "edit",
    .operands = "RUN [FILE]",
    .summary = "apply a corrected file to a run that has begun",
    .details =
        "Compares the file with the one that the run follows, shows each key "
        "that differs, and applies all of them. Without FILE it reads the "
        "file that the run was started from. The run may be running, stopped "
        "or finished.\n\n"
        "A run can change what its search does not depend on: of an "
        "experiment the command, env, metrics, resources, retry, setup and "
        "all else of `trial`, `executor`, `notify`, and `budget`. The search "
        "continues with the plan it began with. If another key differs, for "
        "example a parameter, nothing changes, and the message has the "
        "reason.\n\n"
        "A step of a workflow can change in all but its name. Steps that did "
        "not change keep their results. A changed step that succeeded runs "
        "again, with all steps that depend on it. A step with other needs, "
        "conditions or copies begins again. New resources, retry rules, "
        "pools, `parallel` or `cache` alone repeat no step. Failed jobs wait "
        "for `smtune retry`.\n\n"
        "Running jobs keep the command they started with. New resources "
        "or retry rules begin the count of retries anew.\n\n"
        "A run from a backup without secrets takes them from the file. Other "
        "differences alone are changes, and steps keep their results. Each "
        "masked value of --set must be given again.\n\n"
        "The edit is an event of the record. `smtune replay` judges each "
        "decision by the file of its time.",
    .examples = "smtune edit mnist               # the file of the run, "
                "corrected\n"
                "smtune edit mnist --dry-run     # only show the changes\n"
                "smtune edit mnist new.yaml -o json\n"
                "smtune edit mnist --set trial.resources.time=2h\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 2,
    .exec = exec_edit,
};
