/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/whatif_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/show/run/schedule_label.h"
#include "cli/term/document.h"

/* ---- words ---- */

/* "stopped at 3" */
static void describe_fate(const struct curve_sim_result *result, char *text,
                          size_t size)
{
    if (result->fate == FATE_COMPLETE || result->fate == FATE_NONE)
        snprintf(text, size, "%s", fate_names[result->fate]);
    else
        snprintf(text, size, "%s at %" PRIu64, fate_names[result->fate],
                 result->fate_resource);
}

/* ---- cells ---- */

static int64_t to_ms(double seconds)
{
    return (int64_t)llround(seconds * 1000.0);
}

static struct value count_of(uint64_t count)
{
    return value_int((int64_t)count);
}

/* Of all that the run used; null where it used none. */
static struct value saved(double used, double of)
{
    return of > 0.0 ? value_real(1.0 - used / of) : value_null();
}

static struct value best_value(const struct curve_sim_result *result)
{
    return result->best > 0 ? value_real(result->best_value) : value_null();
}

static struct value best_trial(const struct curve_sim_result *result)
{
    return result->best > 0 ? value_int(result->best) : value_null();
}

/* ---- the run ---- */

static const struct table_column run_columns[] = {
    {"run", NULL, COLUMN_TEXT, NULL},
    {"unit", NULL, COLUMN_TEXT, NULL},
    {"trials", NULL, COLUMN_NUMBER, NULL},
    {"curves", "with a curve", COLUMN_NUMBER, NULL},
    {"parallel", "parallel", COLUMN_NUMBER, NULL},
    {"resource", "used", COLUMN_NUMBER, NULL},
    {"machine_ms", "time of trials", COLUMN_DURATION, NULL},
    {"elapsed_ms", "elapsed", COLUMN_DURATION, NULL},
    {"winner", NULL, COLUMN_NUMBER, NULL},
    {"value", "its value", COLUMN_NUMBER, NULL},
};

static int add_run(struct document *document, const char *name,
                   const struct whatif_run *run, struct err *err)
{
    bool is_won = run->winner > 0;

    return document_fields(
        document, NULL, run_columns,
        (const struct value[ARRAY_LEN(run_columns)]){
            value_text(name),
            value_text(run->unit),
            count_of(run->trials),
            count_of(run->curves),
            count_of(run->parallel),
            count_of(run->resource),
            value_int(to_ms(run->seconds)),
            value_int(to_ms(run->elapsed)),
            is_won ? value_int(run->winner) : value_null(),
            is_won ? value_real(run->winner_value) : value_null(),
        },
        ARRAY_LEN(run_columns), err);
}

/* ---- for people ---- */

static int add_short_row(struct document *document,
                         const struct whatif_run *run,
                         const struct whatif_row *row, struct err *err)
{
    const struct curve_sim_result *result = &row->result;
    char percent[16], fate[48];

    snprintf(percent, sizeof(percent), "%.0f%%",
             run->resource > 0 ? 100.0 * (1.0 - (double)result->resource /
                                                    (double)run->resource)
                               : 0.0);
    describe_fate(result, fate, sizeof(fate));
    return document_row(document,
                        (const struct value[]){
                            value_text(row->label),
                            count_of(result->resource),
                            value_text(percent),
                            value_int(to_ms(result->seconds)),
                            value_int(to_ms(result->elapsed)),
                            run->winner > 0 ? value_text(fate) : value_null(),
                            best_trial(result),
                            best_value(result),
                            count_of(result->counts[FATE_CUT]),
                        },
                        err);
}

static int add_short_rows(struct document *document,
                          const struct whatif_run *run,
                          const struct whatif_row *rows, size_t count,
                          struct err *err)
{
    const struct table_column columns[] = {
        {"schedule", NULL, COLUMN_TEXT, NULL},
        {"resource", run->unit, COLUMN_NUMBER, NULL},
        {"saved", NULL, COLUMN_NUMBER, NULL},
        {"machine_ms", "time of trials", COLUMN_DURATION, NULL},
        {"elapsed_ms", "elapsed", COLUMN_DURATION, NULL},
        {"winner", NULL, COLUMN_TEXT, NULL},
        {"best", NULL, COLUMN_NUMBER, NULL},
        {"value", run->metric, COLUMN_NUMBER, NULL},
        {"unknown", NULL, COLUMN_NUMBER, NULL},
    };

    document_begin_list(document, "schedules", columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < count; i++) {
        if (add_short_row(document, run, &rows[i], err) < 0)
            return -1;
    }
    return document_end_list(document, err);
}

/* "asha eta 3: trial 17 was stopped at 9 of 27 epochs, rung 2: ..." */
static void explain(const struct whatif_run *run, const struct whatif_row *row)
{
    const struct curve_sim_result *result = &row->result;
    char fate[48];

    if (run->winner == 0 || result->fate == FATE_COMPLETE)
        return;
    describe_fate(result, fate, sizeof(fate));
    printf("%s: trial %" PRId64 " was %s", row->label, run->winner, fate);
    if (result->fate != FATE_NONE)
        printf(" of %" PRIu64 " %s", row->options.max, run->unit);
    if (result->fate_rung >= 0)
        printf(", rung %" PRId64, result->fate_rung);
    if (result->fate_reason[0] != '\0')
        printf(": %s", result->fate_reason);
    putchar('\n');
}

static void print_notes(const struct whatif_run *run,
                        const struct whatif_row *rows, size_t count)
{
    size_t unknown = 0;

    putchar('\n');
    for (size_t i = 0; i < count; i++) {
        explain(run, &rows[i]);
        unknown += rows[i].result.counts[FATE_CUT];
    }
    if (unknown > 0)
        puts("unknown: trials that were stopped earlier than this "
             "schedule would have stopped them.\n"
             "It would have used more than shown, and one of them may "
             "have been the best.");
}

/* ---- for programs ---- */

static const struct table_column columns[] = {
    {"schedule", NULL, COLUMN_TEXT, NULL},
    {"method", NULL, COLUMN_TEXT, NULL},
    {"type", NULL, COLUMN_TEXT, NULL},
    {"rule", NULL, COLUMN_TEXT, NULL},
    {"eta", NULL, COLUMN_NUMBER, NULL},
    {"min", NULL, COLUMN_NUMBER, NULL},
    {"max", NULL, COLUMN_NUMBER, NULL},
    {"resource", NULL, COLUMN_NUMBER, NULL},
    {"resource_saved", NULL, COLUMN_NUMBER, NULL},
    {"machine_ms", NULL, COLUMN_NUMBER, NULL},
    {"machine_saved", NULL, COLUMN_NUMBER, NULL},
    {"elapsed_ms", NULL, COLUMN_NUMBER, NULL},
    {"elapsed_saved", NULL, COLUMN_NUMBER, NULL},
    {"completed", NULL, COLUMN_NUMBER, NULL},
    {"unknown", NULL, COLUMN_NUMBER, NULL},
    {"fate", NULL, COLUMN_TEXT, "winner"},
    {"resource", NULL, COLUMN_NUMBER, "winner"},
    {"rung", NULL, COLUMN_NUMBER, "winner"},
    {"reason", NULL, COLUMN_TEXT, "winner"},
    {"id", NULL, COLUMN_NUMBER, "best"},
    {"value", NULL, COLUMN_NUMBER, "best"},
    {"resource", NULL, COLUMN_NUMBER, "best"},
};

static void fill_row(const struct whatif_run *run, const struct whatif_row *row,
                     struct value *cells)
{
    const struct schedule_options *options = &row->options;
    const struct curve_sim_result *result = &row->result;
    struct schedule_concerns by = schedule_concerns_of(options->method);
    bool is_won = run->winner > 0;
    const struct value all[ARRAY_LEN(columns)] = {
        value_text(row->label),
        value_text(options->method),
        by.type ? value_text(schedule_type_word(options->type)) : value_null(),
        by.rule ? value_text(options->rule) : value_null(),
        by.eta ? count_of(options->eta) : value_null(),
        count_of(options->min),
        count_of(options->max),
        count_of(result->resource),
        saved((double)result->resource, (double)run->resource),
        value_int(to_ms(result->seconds)),
        saved(result->seconds, run->seconds),
        value_int(to_ms(result->elapsed)),
        saved(result->elapsed, run->elapsed),
        count_of(result->counts[FATE_COMPLETE]),
        count_of(result->counts[FATE_CUT]),
        is_won ? value_text(fate_names[result->fate]) : value_null(),
        is_won ? count_of(result->fate_resource) : value_null(),
        result->fate_rung >= 0 ? value_int(result->fate_rung) : value_null(),
        result->fate_reason[0] != '\0' ? value_text(result->fate_reason)
                                       : value_null(),
        best_trial(result),
        best_value(result),
        result->best > 0 ? count_of(result->best_resource) : value_null(),
    };

    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        cells[i] = all[i];
}

static int add_rows(struct document *document, const struct whatif_run *run,
                    const struct whatif_row *rows, size_t count,
                    struct err *err)
{
    struct value cells[ARRAY_LEN(columns)];

    document_begin_list(document, "schedules", columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < count; i++) {
        fill_row(run, &rows[i], cells);
        if (document_row(document, cells, err) < 0)
            return -1;
    }
    return document_end_list(document, err);
}

static int print_rows(const struct cli *cli, const struct whatif_run *run,
                      const struct whatif_row *rows, size_t count,
                      struct err *err)
{
    struct output *output = output_create(cli, columns, ARRAY_LEN(columns));
    struct value cells[ARRAY_LEN(columns)];
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++) {
        fill_row(run, &rows[i], cells);
        status = output_row(output, cells, err);
    }
    if (status == 0)
        return output_finish(output, err);
    output_destroy(output);
    return status;
}

/* ---- all ---- */

static int print_document(const struct cli *cli, const char *name,
                          const struct whatif_run *run,
                          const struct whatif_row *rows, size_t count,
                          struct err *err)
{
    struct document *document = document_create(cli);
    bool is_json = cli->output == OUTPUT_JSON;
    int status = add_run(document, name, run, err);

    if (status == 0)
        status = is_json ? add_rows(document, run, rows, count, err)
                         : add_short_rows(document, run, rows, count, err);
    if (status == 0 && !is_json)
        print_notes(run, rows, count);
    if (status == 0)
        status = document_finish(document, err);
    document_destroy(document);
    return status;
}

int whatif_print(const struct cli *cli, const char *name,
                 const struct whatif *whatif, const struct whatif_row *rows,
                 size_t count, struct err *err)
{
    const struct whatif_run *run = whatif_run(whatif);

    if (cli->output == OUTPUT_CSV || cli->output == OUTPUT_JSONL)
        return print_rows(cli, run, rows, count, err);
    return print_document(cli, name, run, rows, count, err);
}
