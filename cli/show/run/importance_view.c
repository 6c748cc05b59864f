/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The importance of parameters as bars or rows. Too few results, or no clear
 * effect, is an answer of its own and not a row of zeroes. */
#include "cli/show/run/importance_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/show/run/run_view.h"
#include "cli/term/document.h"
#include "cli/term/panel.h"
#include "cli/term/term.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/run_importance.h"
#include "orchestrator/search/search_space.h"

enum { BARS_MAX = 15 };

struct share {
    const char *param;
    double share;
    size_t index;
};

/* ---- of one objective, the largest first ---- */

static int compare(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Without constants; the caller frees them. */
static struct share *sorted(const struct experiment *experiment,
                            const double *shares, size_t *count)
{
    size_t params = search_space_count(experiment);
    struct share *result = mem_array(params, sizeof(*result));

    *count = 0;
    for (size_t i = 0; i < params; i++) {
        if (search_space_varies(experiment, i))
            result[(*count)++] =
                (struct share){search_space_name(experiment, i), shares[i], i};
    }
    qsort(result, *count, sizeof(*result), compare);
    return result;
}

/* ---- for programs ---- */

static const struct table_column columns[] = {
    {"metric", NULL, COLUMN_TEXT, NULL},
    {"param", NULL, COLUMN_TEXT, NULL},
    {"importance", NULL, COLUMN_NUMBER, NULL},
};

static int add_rows(struct document *document, const char *metric,
                    const struct share *shares, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct value cells[ARRAY_LEN(columns)] = {
            value_text(metric),
            value_text(shares[i].param),
            value_real(shares[i].share),
        };

        if (document_row(document, cells, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- for people ---- */

static size_t widest(const struct share *shares, size_t count)
{
    size_t columns_needed = 0;

    for (size_t i = 0; i < count; i++) {
        size_t width = text_columns(shares[i].param);

        columns_needed = width > columns_needed ? width : columns_needed;
    }
    return columns_needed;
}

static void print_bars(const struct cli *cli, const char *metric,
                       const struct share *shares, size_t count)
{
    size_t shown = count < BARS_MAX ? count : BARS_MAX;
    size_t width = widest(shares, shown);
    struct buf out = BUF_INIT;

    buf_printf(&out, "\n%simportance for ",
               term_style(STYLE_BOLD, cli->colour_out));
    text_escape(metric, strlen(metric), &out);
    buf_printf(&out, ":%s\n", term_style(STYLE_PLAIN, cli->colour_out));
    for (size_t i = 0; i < shown; i++) {
        int gap = (int)(width - text_columns(shares[i].param));

        buf_printf(&out, "  %s%*s  ", shares[i].param, gap, "");
        panel_add_bar(shares[i].share, term_is_utf8(), &out);
        buf_printf(&out, " %3.0f%%\n", 100.0 * shares[i].share);
    }
    if (shown < count)
        buf_printf(&out, "  ... and %zu less important ones\n", count - shown);
    fputs(buf_text(&out), stdout);
    buf_clear(&out);
}

/* ---- both ---- */

struct importance {
    struct experiment *experiment;
    double *shares; /* [objective_count][space_count] */
    size_t results;
};

static void explain(const struct importance *importance, const char *metric)
{
    if (importance->results < IMPORTANCE_RESULTS_MIN)
        printf("\n"
               "importance: needs at least %d results (%zu so far)\n",
               IMPORTANCE_RESULTS_MIN, importance->results);
    else
        printf("\n"
               "importance for %s: no parameter has a clear effect in %zu "
               "results\n",
               metric, importance->results);
}

static int add_objective(const struct importance *importance, size_t objective,
                         struct document *document, const struct cli *cli,
                         struct err *err)
{
    const struct experiment *experiment = importance->experiment;
    const char *metric = experiment->objectives[objective].metric;
    size_t count;
    struct share *shares =
        sorted(experiment,
               importance->shares + objective * search_space_count(experiment),
               &count);
    bool is_known = count > 0 && shares[0].share > 0.0;
    int status = 0;

    if (cli->output == OUTPUT_TABLE && !is_known)
        explain(importance, metric);
    else if (cli->output == OUTPUT_TABLE)
        print_bars(cli, metric, shares, count);
    else if (is_known)
        status = add_rows(document, metric, shares, count, err);
    free(shares);
    return status;
}

static int add_all(const struct importance *importance,
                   struct document *document, const struct cli *cli,
                   struct err *err)
{
    size_t objectives = importance->experiment->objective_count;
    bool has_too_few = importance->results < IMPORTANCE_RESULTS_MIN;
    int status = 0;

    document_begin_list(document, "importance", columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < (has_too_few ? 1 : objectives) && status == 0; i++)
        status = add_objective(importance, i, document, cli, err);
    return document_end_list(document, err) < 0 ? -1 : status;
}

static int add_none(struct document *document, struct err *err)
{
    document_begin_list(document, "importance", columns, ARRAY_LEN(columns));
    return document_end_list(document, err);
}

/* Without an experiment where the run's file no longer passes, as *problem says
 * then. */
static int read_importance(struct importance *importance,
                           const struct run_view *view, struct err *problem,
                           struct err *err)
{
    struct experiment *experiment =
        run_read_experiment(view->store, view->row.id, problem);

    *importance = (struct importance){.experiment = experiment};
    if (experiment == NULL)
        return 0;
    importance->shares =
        mem_array(experiment->objective_count * search_space_count(experiment),
                  sizeof(*importance->shares));
    return run_importance(view->store, view->row.id, experiment,
                          importance->shares, &importance->results, err);
}

static void clear_importance(struct importance *importance)
{
    free(importance->shares);
    experiment_destroy(importance->experiment);
}

int importance_view_add(struct document *document, const struct cli *cli,
                        const struct run_view *view, struct err *err)
{
    struct importance importance;
    struct err problem;
    int status = read_importance(&importance, view, &problem, err);

    if (status == 0 && importance.experiment != NULL)
        status = add_all(&importance, document, cli, err);
    clear_importance(&importance);
    return status;
}

int importance_view_add_whole(struct document *document, const struct cli *cli,
                              const struct run_view *view, struct err *err)
{
    static const struct table_column head[] = {
        {"results", NULL, COLUMN_NUMBER, NULL},
        {"needed", NULL, COLUMN_NUMBER, NULL},
        {"problem", NULL, COLUMN_TEXT, NULL},
    };
    struct importance importance;
    struct err problem = {0};
    int status = read_importance(&importance, view, &problem, err);
    bool is_readable = importance.experiment != NULL;

    if (status == 0)
        status = document_fields(
            document, NULL, head,
            (const struct value[ARRAY_LEN(head)]){
                value_int((int64_t)importance.results),
                value_int(IMPORTANCE_RESULTS_MIN),
                is_readable ? value_null() : value_text(problem.text),
            },
            ARRAY_LEN(head), err);
    if (status == 0 && is_readable)
        status = add_all(&importance, document, cli, err);
    else if (status == 0)
        status = add_none(document, err);
    clear_importance(&importance);
    return status;
}
