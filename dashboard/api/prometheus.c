/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/value.h"
#include "dashboard/api/api.h"
#include "dashboard/causes.h"
#include "dashboard/run_list.h"
#include "store/store.h"

/*
 * The store in numbers, in the text format of Prometheus (version 0.0.4). Each
 * series costs who keeps it, so there is none of a single trial, and only runs
 * that go on and those that ended last have any; how many are left out is one
 * of the numbers.
 */

enum { ENDED_RUNS_MAX = 50, NUMBER_SIZE = 40 };

static const char media[] = "text/plain; version=0.0.4; charset=utf-8";

/* ---- the format ---- */

static void add_head(struct buf *out, const char *name, const char *type,
                     const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_label(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            buf_add_string(out, "\\n");
            continue;
        }
        if (*value == '\\' || *value == '"')
            buf_add_char(out, '\\');
        buf_add_char(out, *value);
    }
    buf_add_char(out, '"');
}

/* label NULL: the run is the only one. */
static void add_sample(struct buf *out, const char *name, const char *run,
                       const char *label, const char *value, double number)
{
    char text[NUMBER_SIZE];

    value_format_real(number, text, sizeof(text));
    buf_printf(out, "%s{", name);
    add_label(out, "run", run);
    if (label != NULL) {
        buf_add_char(out, ',');
        add_label(out, label, value);
    }
    buf_printf(out, "} %s\n", text);
}

/* ---- which runs ---- */

static const char *text_of(const json_t *run, const char *key)
{
    const char *text = json_string_value(json_object_get(run, key));

    return text != NULL ? text : "";
}

static bool has_ended(const json_t *run)
{
    return json_is_string(json_object_get(run, "ended"));
}

/* Times are ISO 8601: their order is that of their texts. */
static int compare_ends(const void *a, const void *b)
{
    return strcmp(text_of(*(const json_t *const *)b, "ended"),
                  text_of(*(const json_t *const *)a, "ended"));
}

static json_t *choose_runs(const json_t *all)
{
    size_t count = json_array_size(all), ended = 0;
    json_t **by_end = mem_array(count, sizeof(json_t *));
    json_t *chosen = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *run = json_array_get(all, i);

        if (has_ended(run))
            by_end[ended++] = run;
        else
            json_array_append(chosen, run);
    }
    if (ended > 0)
        qsort(by_end, ended, sizeof(json_t *), compare_ends);
    for (size_t i = 0; i < ended && i < ENDED_RUNS_MAX; i++)
        json_array_append(chosen, by_end[i]);
    free(by_end);
    return chosen;
}

/* ---- the series ---- */

static void add_store(struct buf *out, const json_t *all, const json_t *chosen)
{
    size_t count = json_array_size(all);

    add_head(out, "smtune_build_info", "gauge", "The version of smtune.");
    buf_printf(out, "smtune_build_info{version=\"%s\"} 1\n", SMTUNE_VERSION);
    add_head(out, "smtune_runs", "gauge", "Runs in the store.");
    buf_printf(out, "smtune_runs %zu\n", count);
    add_head(out, "smtune_runs_left_out", "gauge",
             "Runs without series here: all but the last 50 that ended.");
    buf_printf(out, "smtune_runs_left_out %zu\n",
               count - json_array_size(chosen));
}

static void add_engine(struct buf *out, const json_t *run)
{
    const char *state = text_of(run, "state");
    bool is_alive =
        strcmp(state, "running") == 0 || strcmp(state, "paused") == 0;

    if (!has_ended(run))
        add_sample(out, "smtune_engine_alive", text_of(run, "name"), NULL, NULL,
                   is_alive);
}

static void add_state(struct buf *out, const json_t *run)
{
    add_sample(out, "smtune_run_state", text_of(run, "name"), "state",
               text_of(run, "state"), 1.0);
}

static void add_trials(struct buf *out, const json_t *run)
{
    static const char *const states[] = {
        "succeeded", "failed",  "running",   "interrupted", "pending",
        "paused",    "stopped", "nonfinite", "skipped",     "cancelled"};
    const json_t *counts = json_object_get(run, "trials");

    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        add_sample(
            out, "smtune_trials", text_of(run, "name"), "state", states[i],
            (double)json_integer_value(json_object_get(counts, states[i])));
}

static void add_best(struct buf *out, const json_t *run)
{
    const json_t *best = json_object_get(json_object_get(run, "best"), "value");
    const json_t *objective =
        json_array_get(json_object_get(run, "objectives"), 0);

    if (json_is_number(best))
        add_sample(out, "smtune_best_objective", text_of(run, "name"), "metric",
                   text_of(objective, "metric"), json_number_value(best));
}

static const struct series {
    const char *name, *help;
    void (*add)(struct buf *out, const json_t *run);
} gauges[] = {
    {"smtune_run_state", "1 for the present state of a run.", add_state},
    {"smtune_engine_alive", "Whether an unfinished run has an engine.",
     add_engine},
    {"smtune_trials", "Trials or jobs of a run, by state.", add_trials},
    {"smtune_best_objective", "The best value of a run with one objective.",
     add_best},
};

static void add_gauges(struct buf *out, const json_t *runs)
{
    for (size_t i = 0; i < ARRAY_LEN(gauges); i++) {
        add_head(out, gauges[i].name, "gauge", gauges[i].help);
        for (size_t k = 0; k < json_array_size(runs); k++)
            gauges[i].add(out, json_array_get(runs, k));
    }
}

/* ---- GPUs of this machine ---- */

static const struct gpu_series {
    const char *name, *key, *help;
} gpu_gauges[] = {
    {"smtune_gpu_load", "load", "Load of a GPU of this machine, 0 to 1."},
    {"smtune_gpu_memory_used_bytes", "memory_used_bytes",
     "Used memory of a GPU of this machine."},
    {"smtune_gpu_memory_bytes", "memory_bytes",
     "Memory of a GPU of this machine."},
};

/* Of what is not known there is no sample. */
static void add_gpu(struct buf *out, const struct gpu_series *series,
                    const json_t *gpu)
{
    const json_t *number = json_object_get(gpu, series->key);
    char text[NUMBER_SIZE];

    if (!json_is_number(number))
        return;
    value_format_real(json_number_value(number), text, sizeof(text));
    buf_printf(out, "%s{gpu=\"%" JSON_INTEGER_FORMAT "\",", series->name,
               json_integer_value(json_object_get(gpu, "index")));
    add_label(out, "model", text_of(gpu, "model"));
    buf_printf(out, "} %s\n", text);
}

static int add_gpus(struct buf *out, const struct dashboard_source *source,
                    struct store *store, struct err *err)
{
    json_t *machine = source->machine(source->user, store, err);
    const json_t *gpus = json_object_get(machine, "gpu_use");

    if (machine == NULL)
        return -1;
    for (size_t i = 0; json_array_size(gpus) > 0 && i < ARRAY_LEN(gpu_gauges);
         i++) {
        add_head(out, gpu_gauges[i].name, "gauge", gpu_gauges[i].help);
        for (size_t k = 0; k < json_array_size(gpus); k++)
            add_gpu(out, &gpu_gauges[i], json_array_get(gpus, k));
    }
    json_decref(machine);
    return 0;
}

/* ---- attempts ---- */

struct attempts {
    const char *run;
    struct buf counts, seconds;
};

static void add_cause(void *user, const struct cause_sum *sum)
{
    struct attempts *attempts = user;

    add_sample(&attempts->counts, "smtune_attempts_total", attempts->run,
               "cause", sum->cause, (double)sum->attempts);
    add_sample(&attempts->seconds, "smtune_attempt_seconds_total",
               attempts->run, "cause", sum->cause,
               (double)sum->took_ms / 1000.0);
}

static void add_attempts(struct buf *out, struct causes *causes,
                         const json_t *runs)
{
    struct attempts attempts = {0};

    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);

        attempts.run = text_of(run, "name");
        causes_each(causes, json_integer_value(json_object_get(run, "id")),
                    add_cause, &attempts);
    }
    add_head(out, "smtune_attempts_total", "counter",
             "Ended attempts, by cause.");
    buf_add(out, buf_text(&attempts.counts), attempts.counts.length);
    add_head(out, "smtune_attempt_seconds_total", "counter",
             "Total duration of ended attempts, by cause.");
    buf_add(out, buf_text(&attempts.seconds), attempts.seconds.length);
    buf_clear(&attempts.counts);
    buf_clear(&attempts.seconds);
}

static int answer_metrics(const struct request *request, struct store *store,
                          struct answer *answer, struct err *err)
{
    struct run_list *list = dashboard_runs(request_dashboard(request));
    struct causes *causes = dashboard_causes(request_dashboard(request));
    const struct dashboard_source *source =
        dashboard_source(request_dashboard(request));
    struct buf out = BUF_INIT, gpus = BUF_INIT;
    uint64_t version = 0;
    json_t *all, *chosen;

    if (run_list_update(list, store, err) < 0 ||
        causes_update(causes, store, err) < 0 ||
        add_gpus(&gpus, source, store, err) < 0)
        return -1;
    all = run_list_rows(list, &version, NULL);
    chosen = choose_runs(all);
    add_store(&out, all, chosen);
    add_gauges(&out, chosen);
    add_attempts(&out, causes, chosen);
    buf_add(&out, buf_text(&gpus), gpus.length);
    buf_clear(&gpus);
    json_decref(chosen);
    json_decref(all);
    return answer_bytes(answer, media, blob_create(&out));
}

const struct route prometheus_routes[] = {
    {.method = "GET",
     .path = "/metrics",
     .role = ROLE_VIEWER,
     .summary = "Figures of runs, for Prometheus.",
     .answers = "Prometheus",
     .answer = answer_metrics},
    {0}};
