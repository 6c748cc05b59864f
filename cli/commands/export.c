/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune export`. Writers know only standard output. For -o FILE a temporary
 * file takes its place, which is renamed to FILE when it is complete. A reader
 * never sees half of it, and a failed export leaves the old file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/serve/dashboard_source.h"
#include "cli/show/jobs/job_table.h"
#include "cli/show/run/curve_list.h"
#include "cli/show/run/trial_list.h"
#include "dashboard/archive/archive.h"

struct options {
    const char *format, *file, *columns, *filter;
    bool curves;
};

/* The first run, and all that were given, by name or id. */
struct chosen_runs {
    const struct run_view *view;
    char **selectors; /* [count] */
    size_t count;
};

typedef int write_function(const struct cli *cli,
                           const struct chosen_runs *runs,
                           const struct options *chosen, struct err *err);

static write_function write_rows, write_page;

static const struct format {
    const char *name;
    enum output_format output;
    write_function *write;
} formats[] = {{"csv", OUTPUT_CSV, write_rows},
               {"jsonl", OUTPUT_JSONL, write_rows},
               {"html", OUTPUT_TABLE, write_page}};

static const char *const format_names[] = {"csv", "jsonl", "html", NULL};

static const struct opt opts[] = {
    {"format", 'f', OPT_CHOICE, offsetof(struct options, format), "FORMAT",
     "csv (default), jsonl, or html: the dashboard page as one "
     "file",
     0, format_names},
    {"output", 'o', OPT_TEXT, offsetof(struct options, file), "FILE",
     "write to FILE instead of standard output", 0, NULL},
    {"columns", 0, OPT_TEXT, offsetof(struct options, columns), "NAMES",
     "only these columns, with commas between", 0, NULL},
    {"filter", 0, OPT_TEXT, offsetof(struct options, filter), "EXPR",
     "only trials for which the expression is true", 0, NULL},
    {"curves", 0, OPT_FLAG, offsetof(struct options, curves), NULL,
     "one row for each value of each metric", 0, NULL},
    {0},
};

/* ---- the file ---- */

/* Takes standard output's place until it is whole, then FILE's. */
static char *start_file(const char *path, struct err *err)
{
    char *part = mem_printf("%s.part", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0) {
        close(fd);
        return part;
    }
    err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", part);
    if (fd >= 0)
        close(fd);
    free(part);
    return NULL;
}

static int finish_file(const char *path, const char *part, int status,
                       struct err *err)
{
    if (status == 0 && (fflush(stdout) != 0 || fsync(STDOUT_FILENO) != 0 ||
                        rename(part, path) != 0))
        status =
            err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    if (status != 0)
        unlink(part);
    return status;
}

/* ---- the formats, to standard output ---- */

static int write_rows(const struct cli *cli, const struct chosen_runs *runs,
                      const struct options *chosen, struct err *err)
{
    const struct run_view *view = runs->view;
    const struct trial_query query = {.run = view->row.id};
    const struct trial_choice choice = {.detail = TRIAL_ALL,
                                        .columns = chosen->columns,
                                        .filter = chosen->filter};

    if (chosen->curves)
        return curve_list_print(cli, view, err);
    if (run_is_workflow(&view->row))
        return job_table_print(cli, view, &(struct job_filter){0}, err);
    return trial_list_print(cli, view, &query, &choice, err);
}

/* The id of each, once. */
static int find_runs(const struct chosen_runs *runs, int64_t *ids,
                     size_t *count, struct err *err)
{
    for (size_t i = 0; i < runs->count; i++) {
        size_t same = 0;
        int64_t id;

        if (store_find_run(runs->view->store, runs->selectors[i], &id, err) !=
            0)
            return -1;
        while (same < *count && ids[same] != id)
            same++;
        ids[same] = id;
        *count += same == *count;
    }
    return 0;
}

static int write_page(const struct cli *cli, const struct chosen_runs *runs,
                      UNUSED const struct options *chosen, struct err *err)
{
    struct source_user *user = source_user_create(cli->store);
    int64_t *ids = mem_array(runs->count, sizeof(*ids));
    struct dashboard_source source = {0};
    size_t count = 0;
    int status = find_runs(runs, ids, &count, err);

    source_set_documents(&source, user);
    if (status == 0)
        status = archive_write(cli->store, &source, ids, count, stdout, err);
    source_user_destroy(user);
    free(ids);
    return status;
}

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; name != NULL && i < ARRAY_LEN(formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return &formats[0];
}

/* ---- both ---- */

/* What goes together, where it goes together. */
static int check_options(const struct options *chosen,
                         const struct format *format,
                         const struct chosen_runs *runs, struct err *err)
{
    bool is_chosen = chosen->columns != NULL || chosen->filter != NULL;
    const struct run_view *view = runs->view;

    if (format->write != write_page && runs->count > 1)
        return err_set(err, ERR_USAGE,
                       "%s has the trials of one run, and %zu runs are given: "
                       "use --format html, or export each run alone",
                       format->name, runs->count);

    if (format->write == write_page && (is_chosen || chosen->curves))
        return err_set(err, ERR_USAGE,
                       "--columns, --filter and --curves are for csv and "
                       "jsonl");
    if (chosen->curves && is_chosen)
        return err_set(err, ERR_USAGE,
                       "--curves has columns of its own: use it without "
                       "--columns and --filter");
    if (is_chosen && run_is_workflow(&view->row))
        return err_set(err, ERR_USAGE,
                       "run '%s' is a workflow: --columns and --filter are "
                       "for trials",
                       view->row.name);
    return 0;
}

static int export_to_file(const struct cli *cli, const struct chosen_runs *runs,
                          const struct format *format,
                          const struct options *chosen, struct err *err)
{
    char *part = start_file(chosen->file, err);
    int status;

    if (part == NULL)
        return -1;
    status = format->write(cli, runs, chosen, err);
    status = finish_file(chosen->file, part, status, err);
    free(part);
    return status;
}

static int exec_export(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    const struct format *format = find_format(chosen->format);
    bool is_file = chosen->file != NULL && strcmp(chosen->file, "-") != 0;
    struct cli as_file = *cli;
    struct run_view view;
    const struct chosen_runs runs = {&view, operands, (size_t)count};
    int status;

    if (format->write == write_page && !is_file && cli->out_is_terminal)
        return err_set(err, ERR_USAGE,
                       "--format html requires a file: -o FILE");
    as_file.output = format->output;
    status = run_view_open(&view, cli, operands[0], err);
    if (status == 0)
        status = check_options(chosen, format, &runs, err);
    if (status == 0)
        status = is_file ? export_to_file(&as_file, &runs, format, chosen, err)
                         : format->write(&as_file, &runs, chosen, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_export = {
    .name = "export",
    .operands = "RUN...",
    .summary = "write a run to a file: its trials or jobs, or a page",
    .details = "Writes one row per trial, with its state, values, "
               "parameters, times, cause and the last value of each metric. "
               "--curves writes one row per value instead: trial, metric, "
               "step, value and time. For a workflow it writes one "
               "row per job, with its step, copy, round and outputs. "
               "Numbers are exact, times are ISO 8601 in UTC. FILE "
               "appears only when it is complete.\n\n"
               "In CSV, a text that a spreadsheet would run as a formula "
               "has an apostrophe in front: one that begins with =, +, -, "
               "@, a tab or a carriage return and is no number, also "
               "behind apostrophes of its own.\n\n"
               "--format html writes the dashboard page with the run and "
               "its child runs as one file. Any browser shows it without "
               "a server or a network, so you can send or archive it. It "
               "contains the last 16 KiB of the logs of the 200 best, 100 "
               "failed and 100 latest trials. With several runs, the page "
               "compares them, and each has its share of these trials.",
    .examples = "smtune export mlp -o mlp.csv             # for a spreadsheet\n"
                "smtune export mlp --format jsonl | jq .  # for programs\n"
                "smtune export mlp --curves -o curves.csv # every value\n"
                "smtune export mlp --columns id,lr,val_acc --filter "
                "'val_acc > 0.9'\n"
                "smtune export mlp --format html -o mlp.html  # for people\n"
                "smtune export mlp mlp-2 --format html -o both.html\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_export,
};
