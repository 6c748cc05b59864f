/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune import`: results of other tools become the trials of a run, each like
 * a result that a client of `smtune suggest` tells without having asked.
 *
 * All rows are told to a session without a run first, so a row with a mistake
 * leaves no half of a run behind. Then they are told to the run, in one
 * transaction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/drive/search_session.h"
#include "cli/each/csv.h"
#include "cli/each/input.h"
#include "orchestrator/ask_tell/ask_tell.h"
#include "orchestrator/ask_tell/import_row.h"
#include "orchestrator/spec/experiment/experiment.h"

struct options {
    struct opt_texts set;
    const char *file;
    const char *record;
    const char *format;
};

static const char *const formats[] = {"csv", "tsv", "jsonl", NULL};

static const struct opt opts[] = {
    {"file", 0, OPT_TEXT, offsetof(struct options, file), "FILE",
     "the experiment file with the parameters and the objective", 0, NULL},
    {"record", 0, OPT_TEXT, offsetof(struct options, record), "RUN",
     "name of the run to create, or to add to", 0, NULL},
    {"as", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
     "format of RESULTS: csv, tsv or jsonl (default: by its name)", 0, formats},
    DRIVE_OPT_SET(struct options, set),
    {0},
};

struct importing {
    const struct experiment *experiment;
    struct each_input input;
    struct ask_tell *ask_tell; /* that the rows are told to */
    int64_t taken, left_out;
    struct err *err; /* of the one who tells */
};

/* ---- telling ---- */

static int tell(struct importing *importing, const json_t *row, size_t line,
                struct err *err)
{
    json_t *request = import_row_request(importing->experiment, row), *answer;
    struct buf text = BUF_INIT, out = BUF_INIT;
    const char *why;
    int result = 0;

    if (request == NULL) {
        importing->left_out++;
        return 0;
    }
    json_print(request, &text);
    json_decref(request);
    ask_tell_answer(importing->ask_tell, 1, buf_text(&text), text.length, &out);
    answer = json_parse(buf_text(&out), out.length, NULL);
    why = json_string_value(json_object_get(answer, "error"));
    if (why != NULL)
        result = each_input_refuse(&importing->input, line, err, "%s", why);
    else
        importing->taken++;
    json_decref(answer);
    buf_clear(&text);
    buf_clear(&out);
    return result;
}

/* Its cells as texts, or its object; NULL: it is none. */
static json_t *row_object(const struct importing *importing,
                          const struct each_row *row)
{
    const struct each_input *input = &importing->input;
    json_t *object;

    if (row->csv == NULL)
        return each_input_object(input, row->line, row->text, row->length,
                                 importing->err);
    object = json_object();
    for (size_t i = 0; i < input->column_count; i++)
        json_object_set_new(object, input->columns[i],
                            json_from_text(csv_cell(row->csv, i)));
    return object;
}

static int tell_row(void *user, const struct each_row *row)
{
    struct importing *importing = user;
    json_t *object = row_object(importing, row);
    int result = object != NULL
                     ? tell(importing, object, row->line, importing->err)
                     : -1;

    json_decref(object);
    return result;
}

static int tell_all(struct importing *importing, struct ask_tell *ask_tell,
                    struct err *err)
{
    int64_t blank;

    importing->ask_tell = ask_tell;
    importing->err = err;
    importing->taken = importing->left_out = 0;
    return each_input_visit(&importing->input, tell_row, importing, &blank,
                            err);
}

/* Whether each row can be told. */
static int try_all(struct importing *importing, struct err *err)
{
    struct ask_tell *ask_tell =
        ask_tell_create(importing->experiment, NULL, err);
    int result = ask_tell != NULL ? tell_all(importing, ask_tell, err) : -1;

    ask_tell_destroy(ask_tell);
    return result;
}

/* ---- the command ---- */

/* Its SQLite file, or its journal. */
static bool is_of_optuna(const struct each_input *input)
{
    const char *text = buf_text(&input->text);

    return text_begins_with(text, "SQLite format 3") ||
           text_begins_with(text, "{\"op_code\":");
}

static int refuse_format(const struct each_input *input, const char *run,
                         struct err *err)
{
    if (is_of_optuna(input))
        return err_set(err, ERR_USAGE,
                       "'%s' is a study of Optuna (import it from Python: "
                       "smtune.import_optuna('%s', '%s'))",
                       input->path, input->path, run);
    return err_set(err, ERR_USAGE,
                   "'%s' is neither .csv, .tsv nor .jsonl (name the format: "
                   "--as csv)",
                   input->path);
}

/* An existing run without FILE is opened first: it has the parameters. */
static int tell_run(struct importing *importing, struct search_session *session,
                    struct err *err)
{
    bool has_file = search_session_experiment(session) != NULL;
    int result = has_file ? 0 : search_session_open(session, err);

    importing->experiment = search_session_experiment(session);
    if (result == 0)
        result = try_all(importing, err);
    if (result == 0 && has_file)
        result = search_session_open(session, err);
    importing->experiment = search_session_experiment(session);
    if (result == 0 &&
        tell_all(importing, search_session_ask_tell(session), err) != 0) {
        ask_tell_abandon(search_session_ask_tell(session));
        result = -1;
    }
    return result;
}

static void say(const struct cli *cli, const struct importing *importing,
                const char *run)
{
    if (cli->quiet)
        return;
    fprintf(stderr, "smtune: run '%s': %" PRId64 " result%s imported", run,
            importing->taken, units_plural(importing->taken));
    if (importing->left_out > 0)
        fprintf(stderr, ", %" PRId64 " row%s without a result left out",
                importing->left_out, units_plural(importing->left_out));
    fprintf(stderr, "\n");
}

static int exec_import(const struct cli *cli, const void *given,
                       char **operands, int count, struct err *err)
{
    const struct options *options = given;
    const struct search_order order = {.file = options->file,
                                       .set = &options->set,
                                       .record = options->record,
                                       .has_no_budget = true};
    const struct each_source source = {.path = operands[0],
                                       .format = options->format};
    struct importing importing = {.experiment = NULL};
    struct search_session *session = NULL;
    struct err closing;
    int status;

    (void)count;
    if (options->record == NULL)
        return err_set(err, ERR_USAGE,
                       "missing option --record RUN (usage: smtune import "
                       "RESULTS --file FILE --record RUN)");
    status = each_input_read(&importing.input, &source, err);
    if (status == 0 && !each_input_is_table(&importing.input))
        status = refuse_format(&importing.input, options->record, err);
    if (status == 0)
        status = search_session_load(cli, &order, &session, err);
    if (status == 0)
        status = tell_run(&importing, session, err);
    if (search_session_end(session, &closing) != 0 && status == 0) {
        *err = closing;
        status = -1;
    }
    if (status == 0)
        say(cli, &importing, options->record);
    each_input_clear(&importing.input);
    return status;
}

const struct cmd cmd_import = {
    .name = "import",
    .operands = "RESULTS",
    .summary = "make a run of results from another tool",
    .details =
        "RESULTS is a table with a row for each trial, in CSV, TSV or JSON "
        "Lines. A column with the name of a parameter has its values; "
        "Optuna's name params_NAME is read, too. The metric of the objective, "
        "or `value`, has the result, and the metric of a constraint its "
        "value. `state` is succeeded, failed or stopped, or Optuna's word for "
        "it. Without it, a row without a result has failed. Other columns "
        "have no effect. Objects in JSON Lines may have `params`, `values` "
        "and `outcomes`, as `smtune export --format jsonl` writes them.\n\n"
        "FILE is an experiment with the parameters and the objective. It "
        "needs no `trial`, and its budget has no effect. If the run exists, "
        "leave out FILE: the results are added.\n\n"
        "A row with a value that the parameters do not have is an error, and "
        "nothing is imported. `warm_start: RUN` in another experiment starts "
        "its search with the results, and `smtune suggest --record RUN` "
        "continues the run.",
    .examples = "smtune import old.csv --file experiment.yaml --record old\n"
                "smtune import more.jsonl --record old\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_import,
};
