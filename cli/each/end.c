/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a run of lines, in a few lines of text. Counts and failures are
 * those of the record, so that lines of earlier calls count, too. */
#include "cli/each/end.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/drive/hint.h"
#include "cli/drive/run_end.h"
#include "cli/each/lines.h"
#include "cli/term/output.h"
#include "cli/term/term.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/job/states.h"
#include "store/store.h"

enum { FAILED_SHOWN = 3 };

struct ending {
    const struct cli *cli;
    const struct run_end *end;
    const struct each_lines *lines;
    int64_t succeeded, failed; /* lines */
    int64_t first_failed;      /* its number; 0: none */
};

static int keep_counts(void *user, const struct run_row *row)
{
    struct ending *ending = user;

    ending->succeeded = row->succeeded;
    ending->failed = row->failed;
    return 0;
}

/* "3 of 100 lines failed, 97 succeeded" */
static void print_counts(const struct ending *ending)
{
    const char *name = ending->end->name;
    int64_t count = ending->lines->count;

    if (ending->succeeded == count && ending->failed == 0) {
        fprintf(stderr, "smtune: run '%s': %" PRId64 " line%s succeeded\n",
                name, count, units_plural(count));
        return;
    }
    fprintf(stderr, "smtune: run '%s'%s: ", name,
            ending->end->result->state == RUN_STOPPED ? " was stopped" : "");
    if (ending->failed > 0)
        fprintf(stderr,
                "%" PRId64 " of %" PRId64 " line%s failed, %" PRId64
                " succeeded\n",
                ending->failed, count, units_plural(count), ending->succeeded);
    else
        fprintf(stderr, "%" PRId64 " of %" PRId64 " line%s succeeded\n",
                ending->succeeded, count, units_plural(count));
}

/* Of a step that could not begin. */
static int print_reason(void *user, const struct step_row *row)
{
    const struct ending *ending = user;
    struct buf shown = BUF_INIT;

    if (row->reason != NULL && row->reason[0] != '\0')
        fprintf(stderr, "smtune: run '%s': %s\n", ending->end->name,
                term_shown(row->reason, &shown));
    buf_clear(&shown);
    return 0;
}

/* Why its last attempt ended, in words; most have none. */
static int keep_text(void *user, const struct attempt_row *row)
{
    struct buf *text = user;

    buf_truncate(text, 0);
    if (row->text == NULL || row->text[0] == '\0')
        return 0;
    buf_add_string(text, ": ");
    text_escape(row->text, strlen(row->text), text);
    return 0;
}

/* "line 3 (launch_error: cannot start 'gzp'): a.txt" */
static int print_failed(void *user, const struct trial_row *job)
{
    struct ending *ending = user;
    const struct run_end *end = ending->end;
    struct buf line = BUF_INIT, why = BUF_INIT;

    if (ending->first_failed == 0)
        ending->first_failed = job->number;
    each_lines_show(ending->lines, job->number, &line);
    store_each_attempt(end->store, end->run, job->job, keep_text, &why, NULL);
    fprintf(stderr, "  line %" PRId64 " (%s%s): %s\n", job->number,
            job->cause != NULL ? job->cause : "not started", buf_text(&why),
            buf_text(&line));
    buf_clear(&line);
    buf_clear(&why);
    return 0;
}

static void print_hint(const struct ending *ending, const char *verb,
                       const char *operands, const char *what)
{
    hint_print(ending->cli, verb, ending->end->name, operands, what);
}

static void print_next(const struct ending *ending)
{
    char number[32];

    if (ending->first_failed > 0) {
        snprintf(number, sizeof(number), " %" PRId64, ending->first_failed);
        print_hint(ending, "logs", number, "the output of that line");
    }
    if (ending->end->result->state == RUN_STOPPED)
        print_hint(ending, "resume", "", "or the same command again");
    else
        print_hint(ending, "retry", " --failed", "or the same command again");
}

static int print_text(struct ending *ending, struct err *err)
{
    const struct run_end *end = ending->end;
    const struct trial_query query = {.run = end->run,
                                      .order = ORDER_NUMBER,
                                      .state = job_state_names[JOB_FAILED],
                                      .limit = FAILED_SHOWN};
    int status = run_end_status(end);

    if (store_get_run(end->store, end->run, keep_counts, ending, err) != 0)
        return -1;
    if (status == 0 && ending->cli->quiet)
        return 0;
    print_counts(ending);
    if (status == 0)
        return 0;
    if (ending->failed + ending->succeeded == 0 &&
        store_each_step(end->store, end->run, print_reason, ending, err) != 0)
        return -1;
    if (ending->cli->quiet)
        return status;
    if (store_each_trial(end->store, &query, print_failed, ending, err) != 0)
        return -1;
    print_next(ending);
    return status;
}

int each_end_print(const struct cli *cli, const struct run_end *end,
                   const struct each_lines *lines, struct err *err)
{
    struct ending ending = {.cli = cli, .end = end, .lines = lines};

    if (cli->output != OUTPUT_TABLE)
        return run_end_print(cli, end, err);
    fflush(stdout);
    return print_text(&ending, err);
}

void each_end_print_empty(const struct cli *cli, const char *path,
                          bool is_dry_run)
{
    struct buf shown = BUF_INIT;

    if (!cli->quiet)
        fprintf(stderr, "smtune: '%s' has no lines: nothing to run\n",
                term_shown(path, &shown));
    if (cli->output != OUTPUT_TABLE && is_dry_run)
        output_json(json_array());
    else if (cli->output != OUTPUT_TABLE)
        output_json(json_pack("{sn ss ss s[] sn}", "run", "state", "succeeded",
                              "reason", "no lines", "steps", "outputs"));
    buf_clear(&shown);
}
