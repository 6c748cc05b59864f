/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "base/text.h"
#include "cli/cmd.h"
#include "cli/doctor.h"
#include "cli/output.h"
#include "cli/term.h"

static const char *const words[] = {
    [HEALTH_OK] = "ok", [HEALTH_WARN] = "warn", [HEALTH_FAIL] = "fail"};

/* A remedy is a sentence: it gets a line of its own. */
static void print_finding(const struct cli *cli, const char *name,
                          const struct finding *finding)
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

static int add_row(struct output *output, const char *name,
                   const struct finding *finding, struct err *err)
{
    const struct value cells[] = {
        value_text(name), value_text(words[finding->health]),
        value_text(buf_text(&finding->found)),
        finding->fix.length > 0 ? value_text(buf_text(&finding->fix))
                                : value_null()};

    return output_row(output, cells, err);
}

static int exec_doctor(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    static const struct column columns[] = {
        {"check", NULL, COLUMN_TEXT, NULL},
        {"state", NULL, COLUMN_STATE, NULL},
        {"found", NULL, COLUMN_TEXT, NULL},
        {"fix", NULL, COLUMN_TEXT, NULL},
    };
    struct output *output =
        cli->output != OUTPUT_TABLE ? output_create(cli, columns, 4) : NULL;
    const struct doctor_check *check = doctor_checks;
    int status = 0, result = 0;

    (void)options, (void)operands, (void)count;
    for (; check->name != NULL && result == 0; check++) {
        struct finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

        check->look(cli, &finding);
        if (finding.health == HEALTH_FAIL)
            status = err_exit_status(ERR_FAILED);
        if (output != NULL)
            result = add_row(output, check->name, &finding, err);
        else
            print_finding(cli, check->name, &finding);
        buf_clear(&finding.found);
        buf_clear(&finding.fix);
    }
    if (result != 0)
        output_destroy(output);
    else if (output != NULL)
        result = output_finish(output, err);
    return result != 0 ? -1 : status;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "check this machine, and say what to mend",
    .details = "Each line is ok, warn (it works, but not well) or fail (it "
               "will not work), and says what to do. Exit status: 1 when "
               "anything is fail.\n",
    .examples = "smtune doctor\n"
                "smtune doctor --store /scratch/tuning   # of another store\n"
                "smtune doctor -o json                   # for a bug report\n",
    .exec = exec_doctor,
};
