/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune show`: a run, or a part of it. The document is complete before
 * anything is printed, so that JSON is never cut off by an error. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/show/jobs/efficiency.h"
#include "cli/show/run/importance_view.h"
#include "cli/show/run/run_document.h"
#include "cli/show/run/run_view.h"
#include "cli/show/show_document.h"
#include "cli/term/document.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec_mask.h"

struct options {
    bool is_efficiency, is_file, with_secrets;
};

static const struct opt opts[] = {
    {"efficiency", 0, OPT_FLAG, offsetof(struct options, is_efficiency), NULL,
     "time, CPU, memory and GPUs: asked for against used", 0, NULL},
    {"file", 0, OPT_FLAG, offsetof(struct options, is_file), NULL,
     "print the file that the run follows, as the record has it", 0, NULL},
    {"with-secrets", 0, OPT_FLAG, offsetof(struct options, with_secrets), NULL,
     "show secrets as they are", 0, NULL},
    {0},
};

static int add_whole(struct document *document, const struct cli *cli,
                     const struct run_view *view, struct err *err)
{
    int status = show_document_add_run(document, cli, view, err);

    if (status == 0 && !run_is_workflow(&view->row))
        status = importance_view_add(document, cli, view, err);
    return status;
}

static int show(const struct cli *cli, const struct run_view *view,
                const char *part, struct err *err)
{
    struct document *document = document_create(cli);
    int status = part != NULL
                     ? show_document_add_part(document, cli, view, part, err)
                     : add_whole(document, cli, view, err);

    if (status == 0)
        status = document_finish(document, err);
    if (status == 0 && part == NULL)
        run_document_hint(cli, view);
    document_destroy(document);
    return status;
}

static int show_efficiency(const struct cli *cli, const struct run_view *view,
                           const char *part, struct err *err)
{
    struct document *document = document_create(cli);
    int status = efficiency_add(document, view, part, err);

    if (status == 0)
        status = document_finish(document, err);
    document_destroy(document);
    return status;
}

/* ---- the file ---- */

/* A file that was read from standard input may end within a line. */
static void print_file(const struct cli *cli, const char *text,
                       const json_t *words)
{
    size_t length = strlen(text);

    printf("%s%s", text, length > 0 && text[length - 1] != '\n' ? "\n" : "");
    fflush(stdout);
    for (size_t i = 0; i < json_array_size(words) && !cli->quiet; i++)
        fprintf(stderr, "smtune: changed by --set %s\n",
                json_string_value(json_array_get(words, i)));
}

/* As a copy: a file with masked secrets is refused by whoever starts it. */
static size_t mask_file(const struct run_row *row, struct buf *text,
                        struct buf *overrides)
{
    const char *spec = run_row_spec(row), *words = run_row_overrides(row);

    return spec_mask_copy(spec, words, text) +
           spec_mask_overrides(spec, words, overrides);
}

static int show_file(const struct cli *cli, const struct run_view *view,
                     struct err *err)
{
    const struct run_row *row = &view->row;
    struct buf text = BUF_INIT, overrides = BUF_INIT;
    size_t masked = 0;
    json_t *words;
    int result;

    if (cli->with_secrets) {
        buf_add_string(&text, run_row_spec(row));
        buf_add_string(&overrides, run_row_overrides(row));
    } else {
        masked = mask_file(row, &text, &overrides);
    }
    words = json_parse(buf_text(&overrides), overrides.length, err);
    result = words != NULL ? 0 : -1;
    if (result == 0 && cli->output == OUTPUT_TABLE)
        print_file(cli, buf_text(&text), words);
    else if (result == 0)
        output_json(json_pack("{so so sO so}", "run", json_from_text(row->name),
                              "path", json_text_unless_empty(row->spec_path),
                              "set", words, "file",
                              json_from_text(buf_text(&text))));
    if (result == 0 && masked > 0 && !cli->quiet)
        fprintf(stderr, "smtune: secrets are masked, so the file does not run "
                        "as it is (show them: --with-secrets)\n");
    json_decref(words);
    buf_clear(&text);
    buf_clear(&overrides);
    return result;
}

/* ---- the command ---- */

static int show_chosen(const struct cli *cli, const struct options *chosen,
                       const struct run_view *view, const char *part,
                       struct err *err)
{
    if (chosen->is_file && (part != NULL || chosen->is_efficiency))
        return err_set(err, ERR_USAGE, "--file and %s exclude each other",
                       part != NULL ? "a JOB" : "--efficiency");
    if (chosen->is_file)
        return show_file(cli, view, err);
    return chosen->is_efficiency ? show_efficiency(cli, view, part, err)
                                 : show(cli, view, part, err);
}

static int exec_show(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    const char *part = count > 1 ? operands[1] : NULL;
    struct cli own = *cli;
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    own.with_secrets = chosen->with_secrets;
    if (status == 0)
        status = show_chosen(&own, chosen, &view, part, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_show = {
    .name = "show",
    .operands = "RUN [JOB]",
    .summary = "show details of a run, or of one of its trials or jobs",
    .details = "For a run: its origin, objectives, progress and best "
               "trial, and the importance of each parameter, the share of "
               "an objective's variance over the space. With a schedule "
               "it shows the resource used and, for each rung, how many "
               "trials are planned, reached it, were promoted, were "
               "stopped, are paused and are running, and the worst "
               "promoted value. For a trial: "
               "its parameters, its attempts and why each ended, the "
               "decisions of the schedule, and the last value of each "
               "metric.\n\n"
               "For a workflow: its steps. For a job (STEP, its copy "
               "STEP[3], its second round STEP#2): its command, its "
               "values of the matrix and the round, its outputs, its "
               "attempts, its child runs, and the origin of a cache hit. "
               "For a step with several copies it lists them.\n\n"
               "--efficiency compares, for each job, the time, CPUs, memory "
               "and GPUs that its attempts asked for with those that they "
               "used. The use of GPUs is that of samples of "
               "nvidia-smi, every 5 seconds, where it is installed. It is "
               "unknown for parts of a GPU (MIG, gpus: 0.5).\n\n"
               "--file prints the experiment or the workflow as the run "
               "follows it now, also that of smtune each. Values of --set go "
               "to stderr.\n\n"
               "Secrets in the file, in commands and in words of --set are "
               "masked. A last line in the file notes it, and such a file "
               "is not run. --with-secrets shows them.",
    .examples = "smtune show last            # the newest run\n"
                "smtune show mlp 17          # its trial 17\n"
                "smtune show mlp 17 -o json  # for programs\n"
                "smtune show nightly train   # a step of a workflow\n"
                "smtune show mlp --efficiency\n"
                "smtune show mlp --file >again.yaml\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 2,
    .exec = exec_show,
};
