/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "orchestrator/fsck.h"
#include "store/check.h"

static const struct column columns[] = {
    {"severity", NULL, COLUMN_TEXT, NULL},
    {"run", NULL, COLUMN_TEXT, NULL},
    {"trial", NULL, COLUMN_NUMBER, NULL},
    {"attempt", NULL, COLUMN_NUMBER, NULL},
    {"what", NULL, COLUMN_TEXT, NULL},
    {"recorded", NULL, COLUMN_TEXT, NULL},
    {"by_events", "by events", COLUMN_TEXT, NULL},
    {"text", NULL, COLUMN_TEXT, NULL},
};

struct session {
    const struct cli *cli;
    struct store *store;
    struct output *output;
    struct fsck_counts counts;
    int64_t *runs; /* [run_count] ids */
    size_t run_count, run_capacity;
    int status; /* of the output */
    struct err *err;
};

static struct value text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? value_text(text) : value_null();
}

static struct value number_or_null(int64_t number)
{
    return number != 0 ? value_int(number) : value_null();
}

static void on_finding(void *user, const struct finding *finding)
{
    struct session *session = user;
    struct value cells[] = {
        value_text(finding->is_note ? "note" : "error"),
        text_or_null(finding->run),
        number_or_null(finding->trial),
        number_or_null(finding->attempt),
        value_text(finding->what),
        text_or_null(finding->recorded),
        text_or_null(finding->by_events),
        text_or_null(finding->text),
    };

    if (session->status == 0)
        session->status = output_row(session->output, cells, session->err);
}

static void on_database(void *user, const char *text)
{
    struct session *session = user;

    session->counts.findings++;
    on_finding(user, &(struct finding){.what = "database", .text = text});
}

/* ---- which runs ---- */

static void add_run(struct session *session, int64_t run)
{
    session->runs = mem_grow(session->runs, session->run_count,
                             &session->run_capacity, sizeof(*session->runs));
    session->runs[session->run_count++] = run;
}

static int on_run(void *user, const struct run_row *run)
{
    add_run(user, run->id);
    return 0;
}

static int find_runs(struct session *session, char **operands, int count)
{
    if (count == 0)
        return store_each_run(session->store, on_run, session, session->err);
    for (int i = 0; i < count; i++) {
        int64_t run;

        if (store_find_run(session->store, operands[i], &run, session->err) !=
            0)
            return -1;
        add_run(session, run);
    }
    return 0;
}

/* ---- checking ---- */

static void print_summary(const struct session *session)
{
    const struct fsck_counts *counts = &session->counts;

    if (session->cli->quiet)
        return;
    fprintf(stderr,
            "%" PRId64 " run%s, %" PRId64 " trials, %" PRId64
            " attempts, %" PRId64 " events: ",
            counts->runs, counts->runs == 1 ? "" : "s", counts->trials,
            counts->attempts, counts->events);
    if (counts->findings == 0)
        fprintf(stderr, "the record is sound\n");
    else
        fprintf(stderr,
                "%" PRId64 " finding%s ('smtune fsck --repair' mends what can "
                "be mended)\n",
                counts->findings, counts->findings == 1 ? "" : "s");
}

static int check(struct session *session)
{
    int result =
        store_check(session->store, on_database, session, session->err);

    for (size_t i = 0; i < session->run_count && result == 0; i++)
        result = fsck_run(session->store, session->runs[i], on_finding, session,
                          &session->counts, NULL, session->err);
    return result;
}

static int exec_fsck(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    struct session session = {.cli = cli, .err = err};
    int result = -1;

    (void)options;
    session.store = store_open(cli->store, STORE_READ, err);
    if (session.store == NULL || find_runs(&session, operands, count) != 0)
        goto out;
    session.output = output_create(cli, columns, ARRAY_LEN(columns));
    result = check(&session);
    if (result == 0 && session.status == 0)
        session.status = output_finish(session.output, err);
    else
        output_destroy(session.output);
    if (result == 0)
        result = session.status;
    if (result == 0) {
        print_summary(&session);
        result = session.counts.findings > 0 ? err_exit_status(ERR_FAILED) : 0;
    }
out:
    free(session.runs);
    store_close(session.store);
    return result;
}

const struct cmd cmd_fsck = {
    .name = "fsck",
    .operands = "[RUN...]",
    .summary = "check that the record of runs holds together",
    .details =
        "Goes through the events of each run once more and compares what they "
        "come to with the tables, column by column; looks whether the database "
        "itself is sound, and whether the files of the attempts agree. A run "
        "that is going on can be checked, too.\n\n"
        "Each line is a finding: where it is, what the tables hold, and what "
        "they should hold by the events. A note is no error: a folder that an "
        "engine made before it was killed.\n\n"
        "Exit status: 0 the record is sound; 1 there are errors.",
    .examples = "smtune fsck                # all runs\n"
                "smtune fsck mlp -o json    # one, for programs\n",
    .completes = "run",
    .min_operands = 0,
    .max_operands = -1,
    .exec = exec_fsck,
};
