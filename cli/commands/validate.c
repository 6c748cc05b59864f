/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune validate`: files are read and checked as for a run, and nothing is
 * started. With --read-log, the log of a program is read as a run would.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/diag.h"
#include "base/fs.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/drive/log_reading.h"
#include "cli/term/output.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/spec/workflow/workflow.h"

enum { LOG_MAX_BYTES = 256 << 20 };

struct options {
    const char *log;
};

static const struct opt opts[] = {
    {"read-log", 0, OPT_TEXT, offsetof(struct options, log), "LOGFILE",
     "show which metrics the experiment finds in the log of a program", 0,
     NULL},
    {0},
};

/* What became of one file. */
struct finding {
    const char *file;
    struct diags *diags, *warnings;
    struct spec spec; /* empty: diags says why */
    struct space_volume volume;
    uint64_t settings; /* 0: a continuum */
};

/* One way to show findings: -o. */
struct report {
    const struct cli *cli;
    json_t *list;
    struct output *rows;
};

static size_t step_count(const struct workflow *workflow)
{
    size_t count = 0;

    for (size_t i = 0; i < workflow->step_count; i++)
        count += workflow->steps[i].kind != STEP_JOIN;
    return count;
}

static void print_steps(const struct finding *finding)
{
    size_t count = step_count(finding->spec.workflow);

    printf("%s: ok: a workflow of %zu step%s\n", finding->file, count,
           count == 1 ? "" : "s");
}

static void print_text(const struct report *report,
                       const struct finding *finding)
{
    const struct space_volume *volume = &finding->volume;
    size_t params;

    if (finding->spec.experiment == NULL) {
        foreground_print_diags(report->cli, finding->diags);
        return;
    }
    foreground_print_diags(report->cli, finding->warnings);
    if (finding->spec.workflow != NULL) {
        print_steps(finding);
        return;
    }
    params = search_space_count(finding->spec.experiment);
    printf("%s: ok: %zu parameter%s, ", finding->file, params,
           params == 1 ? "" : "s");
    if (volume->exact)
        printf("%" PRIu64 " settings\n", volume->points);
    else if (finding->settings > 0)
        printf("%" PRIu64 " settings, about %.3g%% feasible\n",
               finding->settings, 100 * volume->fraction);
    else
        printf("continuous search space, about %.3g%% feasible\n",
               100 * volume->fraction);
}

static json_t *diags_json(struct diags *diags)
{
    json_t *list = json_array();
    size_t count = diags_count(diags);

    for (size_t i = 0; i < count && i < DIAG_MAX; i++) {
        const struct diag *diag = diags_get(diags, i);

        json_array_append_new(
            list, json_pack("{sisisisoso}", "line", diag->place.line, "column",
                            diag->place.column, "length", diag->place.length,
                            "text", json_from_text(diag->text), "help",
                            json_from_text(diag->help)));
    }
    return list;
}

static json_t *finding_json(const struct finding *finding)
{
    const struct experiment *experiment = finding->spec.experiment;
    json_t *json = json_pack(
        "{sosbsIsoso}", "file", json_from_text(finding->file), "ok",
        experiment != NULL, "error_count",
        (json_int_t)diags_count(finding->diags), "errors",
        diags_json(finding->diags), "warnings", diags_json(finding->warnings));
    const struct space_volume *volume = &finding->volume;

    if (experiment == NULL)
        return json;
    if (finding->spec.workflow != NULL) {
        json_object_set_new(
            json, "steps",
            json_integer((json_int_t)step_count(finding->spec.workflow)));
        return json;
    }
    json_object_set_new(
        json, "parameters",
        json_integer((json_int_t)search_space_count(experiment)));
    json_object_set_new(json, "settings",
                        json_int_unless((int64_t)finding->settings, 0));
    json_object_set_new(json, "feasible", json_from_real(volume->fraction));
    json_object_set_new(json, "feasible_exact", json_boolean(volume->exact));
    return json;
}

static int add_row(const struct report *report, const struct finding *finding,
                   struct err *err)
{
    const struct spec *spec = &finding->spec;
    bool ok = spec->experiment != NULL;
    struct value cells[] = {
        value_text(finding->file),
        value_bool(ok),
        value_int((int64_t)diags_count(finding->diags)),
        value_null(),
        value_null(),
        value_null(),
    };

    if (ok && spec->workflow == NULL) {
        cells[3] = value_int((int64_t)search_space_count(spec->experiment));
        cells[4] = value_real(finding->volume.fraction);
    } else if (ok) {
        cells[5] = value_int((int64_t)step_count(spec->workflow));
    }
    return output_row(report->rows, cells, err);
}

static int show(struct report *report, const struct finding *finding,
                struct err *err)
{
    struct buf line = BUF_INIT;
    json_t *json;

    switch (report->cli->output) {
    case OUTPUT_TABLE:
        print_text(report, finding);
        return 0;
    case OUTPUT_CSV:
        return add_row(report, finding, err);
    case OUTPUT_JSON:
        json_array_append_new(report->list, finding_json(finding));
        return 0;
    case OUTPUT_JSONL:
        json = finding_json(finding);
        json_show(json, &line);
        json_decref(json);
        puts(buf_text(&line));
        buf_clear(&line);
        return 0;
    }
    return 0;
}

/* What there is to say of a file that is right. */
static int look_at(struct finding *finding, struct err *err)
{
    const struct experiment *experiment = finding->spec.experiment;

    spec_warn(&finding->spec, finding->warnings);
    if (finding->spec.workflow != NULL)
        return 0;
    finding->settings = search_space_settings(experiment);
    return search_space_volume(experiment, &finding->volume, err);
}

/* 0: right, 3: wrong, -1: cannot be read. */
static int check_file(struct report *report, const char *file, struct err *err)
{
    struct finding finding = {.file = file,
                              .diags = diags_create(file),
                              .warnings = diags_create(file)};
    int status = -1;

    diags_make_warnings(finding.warnings);
    if (foreground_read(
            &(struct experiment_source){.path = file,
                                        .config = report->cli->config},
            &finding.spec, finding.diags, err) == 0)
        status = look_at(&finding, err);
    else if (diags_count(finding.diags) > 0)
        status = err_exit_status(ERR_FILE);
    if (status >= 0 && show(report, &finding, err) < 0)
        status = -1;
    spec_clear(&finding.spec);
    diags_destroy(finding.diags);
    diags_destroy(finding.warnings);
    return status;
}

static int finish(struct report *report, int status, struct err *err)
{
    if (report->rows != NULL && status < 0)
        output_destroy(report->rows);
    else if (report->rows != NULL && output_finish(report->rows, err) < 0)
        status = -1;
    if (report->list != NULL && status >= 0)
        output_json(json_incref(report->list));
    json_decref(report->list);
    return status;
}

/* ---- a log ---- */

static int read_log(const char *path, struct log_reading *reading,
                    struct err *err)
{
    struct buf text = BUF_INIT;
    int status = fs_read(path, LOG_MAX_BYTES, &text, err);

    if (status == 0) {
        log_reading_feed(reading, buf_text(&text), text.length);
        log_reading_finish(reading);
    }
    buf_clear(&text);
    return status;
}

static void show_log(const struct cli *cli, const struct log_reading *reading)
{
    if (cli->output != OUTPUT_TABLE) {
        output_json(log_reading_json(reading));
        return;
    }
    log_reading_print(reading);
    log_reading_print_near(reading);
}

/* 0: every objective has a value, 1: not, 3: the file is wrong. */
static int check_log(const struct cli *cli, const char *log, const char *file,
                     struct err *err)
{
    const struct opt_texts nothing = {0};
    struct log_reading *reading;
    struct spec spec;
    int status = foreground_load(cli, file, &nothing, &spec, err);

    if (status == 0 && spec.workflow != NULL)
        status =
            err_set(err, ERR_USAGE,
                    "'%s' is a workflow: --read-log is for experiments", file);
    if (status == 0) {
        reading = log_reading_create(spec.experiment);
        status = read_log(log, reading, err);
        if (status == 0) {
            show_log(cli, reading);
            status = log_reading_is_complete(reading) ? 0 : 1;
        }
        log_reading_destroy(reading);
    }
    spec_clear(&spec);
    return status;
}

static int exec_validate(const struct cli *cli, const void *given,
                         char **operands, int count, struct err *err)
{
    static const struct table_column columns[] = {
        {.key = "file", .type = COLUMN_TEXT},
        {.key = "ok", .type = COLUMN_TEXT},
        {.key = "error_count", .type = COLUMN_NUMBER},
        {.key = "parameters", .type = COLUMN_NUMBER},
        {.key = "feasible", .type = COLUMN_NUMBER},
        {.key = "steps", .type = COLUMN_NUMBER},
    };
    const struct options *options = given;
    struct report report = {.cli = cli};
    int worst = 0;

    if (options->log != NULL && count != 1)
        return err_set(err, ERR_USAGE, "--read-log takes one experiment");
    if (options->log != NULL)
        return check_log(cli, options->log, operands[0], err);
    if (cli->output == OUTPUT_CSV)
        report.rows = output_create(cli, columns, ARRAY_LEN(columns));
    if (cli->output == OUTPUT_JSON)
        report.list = json_array();
    for (int i = 0; i < count && worst >= 0; i++) {
        int status = check_file(&report, operands[i], err);

        if (status != 0)
            worst = status;
    }
    return finish(&report, worst, err);
}

const struct cmd cmd_validate = {
    .name = "validate",
    .operands = "FILE...",
    .summary = "check experiments and workflows without running them",
    .details = "For a valid experiment it prints the number of settings "
               "and the feasible share, and for a valid workflow the "
               "number of steps. Otherwise it reports up to 20 errors at "
               "once, each with its line. It warns of settings without "
               "effect, of values that do not reach the command, and of "
               "schedules that cannot work. `plan` and `run` print the "
               "same warnings. A file called - is standard input.\n\n"
               "With --read-log it reads the log of a program as a run "
               "would, and prints each metric that it finds with its values, "
               "its steps and its first line.\n\n"
               "Exit status: 0 all files are valid; 1 the log has no value "
               "of an objective; 3 a file has errors; 4 no such file.",
    .examples = "smtune validate experiment.yaml\n"
                "smtune validate *.yaml -o json    # for programs\n"
                "smtune validate --read-log train.log experiment.yaml\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_validate,
};
