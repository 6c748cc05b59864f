/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune completion`: the scripts, and behind the hidden option --runs the
 * names of runs for them. The scripts are made from the tables of commands
 * (cli/completion.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/completion.h"
#include "store/store.h"

struct completion_options {
    bool runs;
};

static const char *const shell_names[] = {"bash", "zsh", "fish"};
static void (*const writers[])(struct buf *out) = {
    completion_bash, completion_zsh, completion_fish};

static int print_name(void *user, const struct run_row *run)
{
    (void)user;
    puts(run->name);
    return 0;
}

/* For the scripts: the names of the runs, one a line. */
static int print_runs(const struct cli *cli, struct err *err)
{
    struct store *store = store_open(cli->store, STORE_READ, err);
    int result;

    if (store == NULL)
        return -1;
    result = store_each_run(store, print_name, NULL, err);
    store_close(store);
    return result;
}

static int exec_completion(const struct cli *cli, const void *options,
                           char **operands, int count, struct err *err)
{
    const struct completion_options *given = options;
    const char *nearest;

    if (given->runs)
        return print_runs(cli, err);
    if (count == 0)
        return err_set(err, ERR_USAGE, "missing SHELL: bash, zsh or fish");
    for (size_t i = 0; i < ARRAY_LEN(shell_names); i++) {
        if (strcmp(operands[0], shell_names[i]) == 0) {
            struct buf out = BUF_INIT;

            writers[i](&out);
            fputs(buf_text(&out), stdout);
            buf_clear(&out);
            return 0;
        }
    }
    nearest = text_nearest(operands[0], shell_names, ARRAY_LEN(shell_names));
    return err_set(
        err, ERR_USAGE, "unknown shell '%s': expected bash, zsh or fish%s%s%s",
        operands[0], nearest != NULL ? " (did you mean '" : "",
        nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "");
}

static const struct opt completion_opts[] = {
    {.name = "runs",
     .type = OPT_FLAG,
     .offset = offsetof(struct completion_options, runs)},
    {.name = NULL},
};

const struct cmd cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary = "print a script that completes commands in a shell",
    .details = "The script completes commands, options, their values, "
               "files and the names of runs. `make install` installs it "
               "where each shell looks. Otherwise, load it from the start "
               "file of your shell:\n\n"
               "  bash   source <(smtune completion bash)\n"
               "  zsh    source <(smtune completion zsh)\n"
               "  fish   smtune completion fish | source\n",
    .examples = "smtune completion bash    # to standard output\n",
    .completes = "bash zsh fish",
    .opts = completion_opts,
    .options_size = sizeof(struct completion_options),
    .max_operands = 1,
    .without_config = true,
    .exec = exec_completion,
};
