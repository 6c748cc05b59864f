/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune try`: one trial in the foreground, to see that program and file fit
 * together before a run.
 *
 * The trial runs in a store of its own (cli/drive/trial_run.h), which is
 * removed in the end. Its output is shown as it is made and read by the same
 * reader as in a run (cli/drive/log_reading.h). What a run would take is
 * reckoned from this one trial.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/json.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/enqueue_setting.h"
#include "cli/drive/foreground.h"
#include "cli/drive/log_reading.h"
#include "cli/drive/trial_run.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"
#include "cli/term/term.h"
#include "orchestrator/search/dry_run.h"
#include "orchestrator/spec/spec.h"

enum { METRICS_MAX_BYTES = 16 << 20, STATUS_FAILED = 1 };

struct options {
    struct opt_texts set, params;
};

static const struct opt opts[] = {
    DRIVE_OPT_SET(struct options, set),
    {"param", 'p', OPT_TEXTS, offsetof(struct options, params), "NAME=VALUE",
     "value of a parameter; the search draws the others; may be repeated", 0,
     NULL},
    {0},
};

/* What came of the trial. */
struct outcome {
    char *state, *cause, *text, *directory; /* of its last attempt */
    int64_t took_ms, memory_bytes; /* of all its attempts; the most of one */
    int64_t resource, resource_used;
    int64_t spent; /* of the resource, in all attempts */
};

struct attempt_try {
    const struct cli *cli;
    const struct experiment *experiment;
    struct log_reading *reading;
    struct outcome outcome;
};

/* ---- the trial ---- */

static void show_output(void *user, const char *bytes, size_t length)
{
    const struct attempt_try *t = user;
    FILE *to = t->cli->output == OUTPUT_TABLE ? stdout : stderr;

    fwrite(bytes, 1, length, to);
    fflush(to);
    log_reading_feed(t->reading, bytes, length);
}

static int keep_attempt(void *user, const struct attempt_row *row)
{
    struct outcome *outcome = user;

    free(outcome->cause);
    free(outcome->text);
    free(outcome->directory);
    outcome->cause = mem_copy_string(row->cause != NULL ? row->cause : "");
    outcome->text = mem_copy_string(row->text != NULL ? row->text : "");
    outcome->directory = mem_copy_string(row->directory);
    if (row->ended_ms > 0 && row->started_ms > 0)
        outcome->took_ms += row->ended_ms - row->started_ms;
    if (row->max_rss_bytes > outcome->memory_bytes)
        outcome->memory_bytes = row->max_rss_bytes;
    outcome->spent += row->resource_used - row->resource_from;
    outcome->resource = row->resource;
    outcome->resource_used = row->resource_used;
    return 0;
}

static int keep_state(void *user, const struct trial_row *row)
{
    struct outcome *outcome = user;

    outcome->state = mem_copy_string(row->state);
    return 0;
}

static int read_outcome(struct attempt_try *t, const struct trial_run *run,
                        struct err *err)
{
    struct cli own = *t->cli;
    struct run_view view;
    int result;

    own.store = run->store;
    result = run_view_open(&view, &own, trial_run_name, err);
    if (result == 0)
        result = store_each_attempt(view.store, view.row.id, 1, keep_attempt,
                                    &t->outcome, err);
    if (result == 0)
        result = store_each_trial(
            view.store, &(struct trial_query){.run = view.row.id, .number = 1},
            keep_state, &t->outcome, err);
    run_view_close(&view);
    return result;
}

/* What the program wrote to $SMTUNE_METRICS. */
static void read_metrics(struct attempt_try *t, const struct trial_run *run)
{
    char *path =
        mem_printf("%s/%s/metrics.jsonl", run->store, t->outcome.directory);
    struct buf text = BUF_INIT;

    if (fs_read(path, METRICS_MAX_BYTES, &text, NULL) == 0)
        log_reading_feed(t->reading, buf_text(&text), text.length);
    buf_clear(&text);
    free(path);
}

/* ---- what it means for a run ---- */

/* All trials of the budget one after another, by this one; 0: not known. */
static int64_t reckon_ms(const struct attempt_try *t, uint64_t *resource)
{
    const struct experiment *experiment = t->experiment;
    struct dry_run *dry_run;

    *resource = 0;
    if (!experiment->schedule.is_on)
        return t->outcome.took_ms * experiment->budget.trials;
    dry_run = dry_run_create(experiment, NULL, NULL);
    if (dry_run != NULL && dry_run_rungs(dry_run) != NULL)
        *resource = dry_run_resource(dry_run);
    dry_run_destroy(dry_run);
    if (t->outcome.spent <= 0)
        return 0;
    return (int64_t)((double)t->outcome.took_ms * (double)*resource /
                     (double)t->outcome.spent);
}

static void print_run(const struct attempt_try *t)
{
    const struct experiment *experiment = t->experiment;
    int64_t parallel = experiment_parallel(experiment);
    uint64_t resource;
    int64_t all_ms = reckon_ms(t, &resource);
    char text[32];

    if (all_ms <= 0)
        return;
    units_format_duration(all_ms / (parallel > 0 ? parallel : 1), text,
                          sizeof(text));
    printf("a run of %" PRId64 " trial%s", experiment->budget.trials,
           units_plural(experiment->budget.trials));
    if (resource > 0)
        printf(" and at most %" PRIu64 " %s", resource,
               experiment->schedule.resource);
    if (parallel > 0)
        printf(", %" PRId64 " at a time", parallel);
    else
        printf(", one after another");
    printf(": about %s\n", text);
}

static void print_resource(const struct attempt_try *t)
{
    const struct schedule *schedule = &t->experiment->schedule;

    if (!schedule->is_on)
        return;
    printf("resource  %s: ", schedule->resource);
    if (t->outcome.resource > 0)
        printf("it was given %" PRId64 " and ", t->outcome.resource);
    printf("reported %" PRId64 "\n", t->outcome.resource_used);
}

static void print_table(const struct attempt_try *t)
{
    const struct outcome *outcome = &t->outcome;
    struct buf shown = BUF_INIT;
    char took[32], memory[32];

    units_format_duration(outcome->took_ms, took, sizeof(took));
    units_format_bytes(outcome->memory_bytes, memory, sizeof(memory));
    printf("\ntrial     %s", outcome->state);
    if (strcmp(outcome->cause, "ok") != 0)
        printf(" (%s%s%s)", outcome->cause, *outcome->text != '\0' ? ": " : "",
               term_shown(outcome->text, &shown));
    buf_clear(&shown);
    printf("\ntook      %s, %s of memory\n", took, memory);
    print_resource(t);
    log_reading_print(t->reading);
    print_run(t);
}

static void print_json(const struct attempt_try *t)
{
    const struct outcome *outcome = &t->outcome;
    uint64_t resource;
    int64_t all_ms = reckon_ms(t, &resource);

    output_json(json_pack("{sosososIsosososo}", "state",
                          json_from_text(outcome->state), "cause",
                          json_from_text(outcome->cause), "text",
                          json_text_unless_empty(outcome->text), "took_ms",
                          (json_int_t)outcome->took_ms, "memory_bytes",
                          json_int_unless(outcome->memory_bytes, 0), "resource",
                          json_int_unless(outcome->resource_used, 0), "metrics",
                          log_reading_json(t->reading), "all_trials_ms",
                          json_int_unless(all_ms, 0)));
}

/* ---- the command ---- */

/* Adds NAME=VALUE, of which the value is YAML. */
static int add_param(json_t *setting, const char *word, struct err *err)
{
    const char *value;
    char *name = enqueue_part_word(word, &value, err);
    struct conf_doc *doc =
        name != NULL ? conf_parse(value, strlen(value), NULL) : NULL;

    if (doc != NULL)
        json_object_set_new(setting, name, conf_to_json(conf_root(doc)));
    else if (name != NULL)
        err_set(err, ERR_USAGE, "'%s': expected NAME=VALUE", word);
    free(name);
    if (doc == NULL)
        return -1;
    conf_destroy(doc);
    return 0;
}

/* "enqueue=[{...}]" of the values; NULL with an error. */
static char *enqueue_word(const struct opt_texts *params, struct err *err)
{
    json_t *setting = json_object();
    struct buf word = BUF_INIT;
    int result = 0;

    for (size_t i = 0; i < params->count && result == 0; i++)
        result = add_param(setting, params->items[i], err);
    buf_add_string(&word, "enqueue=[");
    json_print(setting, &word);
    buf_add_char(&word, ']');
    json_decref(setting);
    if (result == 0)
        return buf_take(&word);
    buf_clear(&word);
    return NULL;
}

static int run_trial(struct attempt_try *t, const char *path,
                     const struct opt_texts *set, struct err *err)
{
    struct trial_run run = {NULL};
    int result = trial_run_start(&run, t->cli, path, set, show_output, t, err);

    if (result == 0)
        result = read_outcome(t, &run, err);
    if (result == 0) {
        read_metrics(t, &run);
        log_reading_finish(t->reading);
        (t->cli->output == OUTPUT_TABLE ? print_table : print_json)(t);
        result = strcmp(t->outcome.state, "failed") == 0 ||
                         !log_reading_is_complete(t->reading)
                     ? STATUS_FAILED
                     : 0;
    }
    trial_run_clear(&run);
    return result;
}

static int try_file(const struct cli *cli, const char *path,
                    const struct opt_texts *set, struct err *err)
{
    struct attempt_try t = {.cli = cli};
    struct spec spec;
    int result = foreground_load(cli, path, set, &spec, err);

    if (result == 0 && spec.workflow != NULL)
        result = err_set(err, ERR_USAGE,
                         "'%s' is a workflow, and has no trial to try", path);
    if (result == 0) {
        t.experiment = spec.experiment;
        t.reading = log_reading_create(spec.experiment);
        result = run_trial(&t, path, set, err);
    }
    log_reading_destroy(t.reading);
    free(t.outcome.state);
    free(t.outcome.cause);
    free(t.outcome.text);
    free(t.outcome.directory);
    spec_clear(&spec);
    return result;
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    struct opt_texts set = {
        .items = mem_array(options->set.count + 1, sizeof(char *)),
        .count = options->set.count,
    };
    char *word = NULL;
    int result = 0;

    (void)count;
    for (size_t i = 0; i < options->set.count; i++)
        set.items[i] = options->set.items[i];
    if (options->params.count > 0) {
        word = enqueue_word(&options->params, err);
        result = word != NULL ? 0 : -1;
        set.items[set.count] = word;
        set.count += word != NULL;
    }
    if (result == 0)
        result = try_file(cli, operands[0], &set, err);
    free(set.items);
    free(word);
    return result;
}

const struct cmd cmd_try = {
    .name = "try",
    .operands = "FILE",
    .summary = "run one trial of an experiment in the foreground",
    .details = "The output of the trial goes to the terminal as it is made. "
               "At the end smtune prints the metrics that it found, each with "
               "the line, the resource that the trial reported, its time and "
               "memory, and what a run of the whole budget would take. "
               "Nothing is written to the store.\n\n"
               "Exit status: 0 the trial reported every objective; 1 it "
               "failed or did not; 3 the file has errors.",
    .examples = "smtune try experiment.yaml\n"
                "smtune try experiment.yaml --param lr=0.1 --set "
                "trial.resources.time=1m\n"
                "smtune try experiment.yaml -o json    # the report as JSON\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec,
};
