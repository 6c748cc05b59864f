/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune version`. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cmd.h"

enum { DAY_S = 86400, DATE_LENGTH = sizeof("2026-11-21") - 1 };

struct options {
    bool is_checked;
};

static const struct opt opts[] = {
    {.name = "check",
     .type = OPT_FLAG,
     .offset = offsetof(struct options, is_checked),
     .doc = "also print how old it is"},
    {.name = NULL},
};

static void print_version(enum output_format format)
{
    if (format == OUTPUT_TABLE)
        puts("smtune " SMTUNE_VERSION);
    else if (format == OUTPUT_CSV)
        puts("version\r\n" SMTUNE_VERSION "\r");
    else
        puts("{\"version\": \"" SMTUNE_VERSION "\"}");
}

static void print_age(const struct cli *cli)
{
    int64_t days = (clock_wall_ms() / 1000 - cli->source_date_s) / DAY_S;
    char date[32];

    clock_format_iso(cli->source_date_s * 1000, date, sizeof(date));
    date[DATE_LENGTH] = '\0';
    if (days < 0)
        days = 0; /* this machine's clock may be wrong */
    if (cli->output == OUTPUT_TABLE)
        printf("smtune " SMTUNE_VERSION " of %s: %" PRId64 " day%s old\n", date,
               days, units_plural(days));
    else if (cli->output == OUTPUT_CSV)
        printf("version,date,age_days\r\n" SMTUNE_VERSION ",%s,%" PRId64 "\r\n",
               date, days);
    else
        printf("{\"version\": \"" SMTUNE_VERSION
               "\", \"date\": \"%s\", \"age_days\": %" PRId64 "}\n",
               date, days);
}

static int exec_version(const struct cli *cli, const void *given,
                        char **operands, int count, struct err *err)
{
    const struct options *options = given;

    (void)operands, (void)count, (void)err;
    /* NULL: it is the option --version of some command. */
    if (options != NULL && options->is_checked)
        print_age(cli);
    else
        print_version(cli->output);
    return 0;
}

const struct cmd cmd_version = {
    .name = "version",
    .summary = "print the version",
    .details =
        "--check also prints the date of the sources that this program is "
        "built from, and their age in days. It uses no network.",
    .examples = "smtune version            # for people\n"
                "smtune version -o json    # for programs\n"
                "smtune version --check    # how old it is\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .without_config = true,
    .exec = exec_version,
};
