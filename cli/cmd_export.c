/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include "cli/job_table.h"
#include "cli/trial_table.h"

struct options {
    const char *format, *file;
};

static const struct {
    const char *name;
    enum output_format output;
} formats[] = {{"csv", OUTPUT_CSV}, {"jsonl", OUTPUT_JSONL}};

static const char *const format_names[] = {"csv", "jsonl", NULL};

static const struct opt opts[] = {
    {"format", 'f', OPT_CHOICE, offsetof(struct options, format), "FORMAT",
     "csv (the default) or jsonl", 0, format_names},
    {"output", 'o', OPT_TEXT, offsetof(struct options, file), "FILE",
     "write to FILE, not to standard output", 0, NULL},
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

/* ---- the rows ---- */

static int export_rows(const struct cli *cli, const struct run_view *view,
                       struct err *err)
{
    const struct trial_query query = {.run = view->row.id};

    if (run_is_workflow(&view->row))
        return job_table_print(cli, view, &(struct job_filter){0}, err);
    return trial_table_print(cli, view, &query, err);
}

static int export_to_file(const struct cli *cli, const struct run_view *view,
                          const char *path, struct err *err)
{
    char *part = start_file(path, err);
    int status;

    if (part == NULL)
        return -1;
    status = export_rows(cli, view, err);
    status = finish_file(path, part, status, err);
    free(part);
    return status;
}

static enum output_format chosen_format(const char *name)
{
    for (size_t i = 0; name != NULL && i < ARRAY_LEN(formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].output;
    }
    return formats[0].output;
}

static int exec_export(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    struct cli as_file = *cli;
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    as_file.output = chosen_format(chosen->format);
    if (status == 0)
        status = chosen->file != NULL && strcmp(chosen->file, "-") != 0
                     ? export_to_file(&as_file, &view, chosen->file, err)
                     : export_rows(&as_file, &view, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_export = {
    .name = "export",
    .operands = "RUN",
    .summary = "write all trials or jobs of a run as a file for programs",
    .details = "One row a trial, with its state, values, parameters, times and "
               "cause. Of a workflow one row a job, with its step, copy, round "
               "and outputs. Numbers are exact, times are ISO 8601 in UTC. "
               "FILE appears only when it is whole.",
    .examples = "smtune export mlp -o mlp.csv             # for a spreadsheet\n"
                "smtune export mlp --format jsonl | jq .  # for programs\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_export,
};
