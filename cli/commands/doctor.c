/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune doctor`: prints what the checks of cli/doctor/ find, as lines or
 * rows, while they run. One failed check makes the exit status 1; a warning
 * does not.
 */
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/cmd.h"
#include "cli/doctor/doctor.h"
#include "cli/term/output.h"
#include "cli/term/term.h"

static const char *const words[] = {
    [HEALTH_OK] = "ok", [HEALTH_WARN] = "warn", [HEALTH_FAIL] = "fail"};

/* A remedy is a sentence: it gets a line of its own. */
static void print_finding(const struct cli *cli, const char *name,
                          const struct doctor_finding *finding)
{
    const char *word = words[finding->health];
    struct buf found = BUF_INIT;

    text_escape(buf_text(&finding->found), finding->found.length, &found);
    printf("%s%-4s%s  %-11s  %s\n",
           term_style(term_state_style(word), cli->colour_out), word,
           term_style(STYLE_PLAIN, cli->colour_out), name, buf_text(&found));
    if (finding->fix.length > 0)
        printf("%19sfix: %s\n", "", buf_text(&finding->fix));
    buf_clear(&found);
}

struct options {
    bool probe;
    const char *partition, *url;
};

static const struct opt opts[] = {
    {.name = "probe",
     .type = OPT_FLAG,
     .offset = offsetof(struct options, probe),
     .doc = "test the Slurm cluster with one job; takes seconds"},
    {.name = "partition",
     .type = OPT_TEXT,
     .offset = offsetof(struct options, partition),
     .argument = "NAME",
     .doc = "partition of that job"},
    {.name = "url",
     .type = OPT_TEXT,
     .offset = offsetof(struct options, url),
     .argument = "URL",
     .doc = "use slurmrestd at this address: unix:/PATH or "
            "http://HOST:PORT"},
    {.name = NULL},
};

struct report {
    const struct cli *cli;
    struct output *output; /* NULL: lines are printed */
    int status;            /* of the program */
    int result;            /* of the output, with *err */
    struct err *err;
};

static void add_row(struct report *report, const char *name,
                    const struct doctor_finding *finding)
{
    const struct value cells[] = {
        value_text(name), value_text(words[finding->health]),
        value_text(buf_text(&finding->found)),
        finding->fix.length > 0 ? value_text(buf_text(&finding->fix))
                                : value_null()};

    if (report->result == 0)
        report->result = output_row(report->output, cells, report->err);
}

static void tell(void *user, const char *name,
                 const struct doctor_finding *finding)
{
    struct report *report = user;

    if (finding->health == HEALTH_FAIL)
        report->status = err_exit_status(ERR_FAILED);
    if (report->output != NULL)
        add_row(report, name, finding);
    else
        print_finding(report->cli, name, finding);
}

static int exec_doctor(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    static const struct table_column columns[] = {
        {"check", NULL, COLUMN_TEXT, NULL},
        {"state", NULL, COLUMN_STATE, NULL},
        {"found", NULL, COLUMN_TEXT, NULL},
        {"fix", NULL, COLUMN_TEXT, NULL},
    };
    const struct options *given = options;
    const struct doctor_cluster cluster = {given->url, given->probe,
                                           given->partition};
    struct report report = {.cli = cli, .err = err};
    const struct doctor_check *check = doctor_checks;

    (void)operands, (void)count;
    if (given->partition != NULL && !given->probe)
        return err_set(err, ERR_USAGE, "--partition requires --probe");
    if (cli->output != OUTPUT_TABLE)
        report.output = output_create(cli, columns, 4);
    for (; check->name != NULL && report.result == 0; check++) {
        struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

        check->look(cli, &finding);
        tell(&report, check->name, &finding);
        buf_clear(&finding.found);
        buf_clear(&finding.fix);
    }
    doctor_look_at_cluster(cli, &cluster, tell, &report);
    if (report.result != 0)
        output_destroy(report.output);
    else if (report.output != NULL)
        report.result = output_finish(report.output, err);
    return report.result != 0 ? -1 : report.status;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "check this machine, and show what to fix",
    .details = "Each line is ok, warn (it works, but not well) or fail "
               "(it will not work), with advice. Exit status: 1 if a line "
               "is fail.\n\n"
               "If the commands of Slurm are installed, or --url names a "
               "slurmrestd, the cluster is checked too: version, "
               "partitions and limits. --probe runs one job like a trial. "
               "It measures the time in the queue. It checks that nodes "
               "can read the folder of the store, start smtune-shim, have "
               "the same time, and support locks.\n",
    .examples = "smtune doctor\n"
                "smtune doctor --store /scratch/tuning   # another store\n"
                "smtune doctor --probe --partition gpu   # and a node\n"
                "smtune doctor -o json                   # for a bug "
                "report\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .has_loop = true,
    .without_config = true,
    .exec = exec_doctor,
};
