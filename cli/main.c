/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/source_date.h"
#include "cli/term/descriptors.h"
#include "cli/term/guarded_file.h"
#include "cli/term/term.h"

/*
 * The program's frame: what every command needs of the process, finding the
 * command, and the one place where an error becomes words and an exit status.
 * The locale is never set, so numbers are read and written with a dot.
 */

/* As a shell shows the end by SIGPIPE. */
enum { STATUS_BROKEN_PIPE = 128 + SIGPIPE };

static void on_sigpipe(int signal_number)
{
    (void)signal_number; /* write() fails with EPIPE: that is enough */
}

/* A file that is opened later must not get the number of a closed stdout. */
static void fill_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static void set_up_process(void)
{
    /* A handler, unlike SIG_IGN, does not outlive exec. */
    struct sigaction action = {.sa_handler = on_sigpipe,
                               .sa_flags = SA_RESTART};

    fill_standard_descriptors();
    sigaction(SIGPIPE, &action, NULL);
}

/* With -o json a program reads what went wrong: one line on stderr. */
static void print_error_json(const struct err *err)
{
    struct buf text = BUF_INIT;
    json_t *json = json_object();

    json_object_set_new(json, "error", json_from_text(err->text));
    if (err->path[0] != '\0')
        json_object_set_new(json, "path", json_from_text(err->path));
    if (err->line > 0)
        json_object_set_new(json, "line", json_integer(err->line));
    if (err->column > 0)
        json_object_set_new(json, "column", json_integer(err->column));
    json_object_set_new(json, "status",
                        json_integer(err_exit_status(err->kind)));
    json_show(json, &text);
    json_decref(json);
    fprintf(stderr, "%s\n", buf_text(&text));
    buf_clear(&text);
}

/* "exp.yaml:14:7: error: text", or "smtune: text" where no file is at fault. */
static void print_error_text(const struct cli *cli, const struct err *err)
{
    struct buf text = BUF_INIT;

    if (err->path[0] == '\0') {
        buf_add_string(&text, "smtune: ");
    } else {
        text_escape(err->path, strlen(err->path), &text);
        if (err->line > 0)
            buf_printf(&text, ":%d", err->line);
        if (err->line > 0 && err->column > 0)
            buf_printf(&text, ":%d", err->column);
        buf_printf(&text, ": %serror:%s ",
                   term_style(STYLE_BAD, cli->colour_err),
                   term_style(STYLE_PLAIN, cli->colour_err));
    }
    text_escape(err->text, strlen(err->text), &text);
    fprintf(stderr, "%s\n", buf_text(&text));
    buf_clear(&text);
}

static int report(const struct cli *cli, const struct err *err)
{
    if (err->text[0] == '\0')
        return STATUS_BROKEN_PIPE;
    fflush(stdout);
    if (cli->output == OUTPUT_JSON || cli->output == OUTPUT_JSONL)
        print_error_json(err);
    else
        print_error_text(cli, err);
    return err_exit_status(err->kind);
}

/* The operand that a command still wants after `count` of them: "RUN" of
 * "RUN [JOB]". */
static void print_missing(const struct cmd *cmd, int count, struct buf *out)
{
    const char *word = cmd->operands;

    for (; count > 0; count--)
        word += strcspn(word, " ") + 1;
    if (strncmp(word, "-- ", 3) == 0)
        word += 3;
    buf_add(out, word, strcspn(word, " ."));
    if (strcmp(buf_text(out), "RUN") == 0)
        buf_add_string(out, ", a name, a number or 'last'");
}

static int check_operands(const struct cmd *cmd, char **operands, int count,
                          struct err *err)
{
    struct buf usage = BUF_INIT, missing = BUF_INIT;

    if (count >= cmd->min_operands &&
        (cmd->max_operands < 0 || count <= cmd->max_operands))
        return 0;
    help_usage(cmd, &usage);
    if (count < cmd->min_operands) {
        print_missing(cmd, count, &missing);
        err_set(err, ERR_USAGE, "%s: missing argument %s (usage: %s)",
                cmd->name, buf_text(&missing), buf_text(&usage));
    } else {
        err_set(err, ERR_USAGE, "%s: unexpected argument '%s' (usage: %s)",
                cmd->name, operands[cmd->max_operands], buf_text(&usage));
    }
    buf_clear(&missing);
    buf_clear(&usage);
    return -1;
}

static void print_help(const struct cmd *cmd, const struct cli *cli, FILE *file)
{
    struct buf text = BUF_INIT;
    bool colour = file == stdout ? cli->colour_out : cli->colour_err;

    if (cmd != NULL)
        help_command(cmd, colour, &text);
    else
        help_overview(colour, &text);
    fputs(buf_text(&text), file);
    buf_clear(&text);
}

/* Where the options and operands of a command end. */
static int count_own_words(const struct cmd *cmd, int argc, char **argv)
{
    int count = 0;

    while (count < argc &&
           !(cmd->keeps_dashes && strcmp(argv[count], "--") == 0))
        count++;
    return count;
}

static int parse_words(const struct cmd *cmd, void *options,
                       struct common_options *common, int argc, char **argv,
                       struct err *err)
{
    int own = count_own_words(cmd, argc, argv);
    int count =
        opts_parse(cmd->opts, options, common_opts, common, own, argv, err);

    if (count < 0)
        return -1;
    memmove(argv + count, argv + own, (size_t)(argc - own) * sizeof(*argv));
    return count + argc - own;
}

static int run_command(const struct cmd *cmd, struct common_options *common,
                       struct cli *cli, int argc, char **argv, struct err *err)
{
    void *options = mem_zero(cmd->options_size);
    int status = -1;
    int count = parse_words(cmd, options, common, argc, argv, err);

    if (count < 0) {
        common_resolve(common, cli, NULL);
        goto out;
    }
    if (common_resolve(common, cli, err) < 0)
        goto out;
    cli->source_date_s = source_date_s;
    if (common->help) {
        print_help(cmd, cli, stdout);
        status = 0;
    } else if (common->version) {
        status = cmd_find("version")->exec(cli, NULL, argv, 0, err);
    } else if (cli->config == NULL && !cmd->without_config) {
        *err = cli->config_error;
    } else if (check_operands(cmd, argv, count, err) == 0 &&
               (!cmd->has_loop || descriptors_check(err) == 0)) {
        status = cmd->exec(cli, options, argv, count, err);
    }
out:
    opts_clear(cmd->opts, options);
    free(options);
    return status;
}

static int run(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct common_options common = {0};
    int first = opts_parse_leading(common_opts, &common, argc, argv, err);
    const struct cmd *cmd;

    if (first < 0) {
        common_resolve(&common, cli, NULL);
        return -1;
    }
    if (first < argc) {
        cmd = cmd_find(argv[first]);
        if (cmd != NULL)
            return run_command(cmd, &common, cli, argc - first - 1,
                               argv + first + 1, err);
        common_resolve(&common, cli, NULL);
        return cmd_unknown(argv[first], err);
    }
    if (common.version)
        return run_command(cmd_find("version"), &common, cli, 0, argv, err);
    if (common_resolve(&common, cli, err) < 0)
        return -1;
    print_help(NULL, cli, common.help ? stdout : stderr);
    return common.help ? 0 : err_exit_status(ERR_USAGE);
}

static bool reader_is_gone(void)
{
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

/* What stands in stdout's buffer may find the disk full or the pipe gone. */
static int close_output(const struct cli *cli, int status)
{
    struct err err = {0};
    bool failed = ferror(stdout) != 0;

    errno = 0;
    failed = fflush(stdout) != 0 || failed;
    if (!failed)
        return status;
    if (errno == EPIPE || reader_is_gone())
        return STATUS_BROKEN_PIPE;
    if (errno != 0)
        err_set_errno(&err, ERR_FAILED, errno,
                      "cannot write to standard output");
    else /* an earlier write failed, and nobody asked why */
        err_set(&err, ERR_FAILED, "cannot write to standard output");
    return report(cli, &err);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct cli cli = {0};
    struct guarded_output output;
    int status;

    set_up_process();
    guarded_output_begin(&output);
    status = run(&cli, argc - 1, argv + 1, &err);
    status = status < 0 ? report(&cli, &err) : close_output(&cli, status);
    guarded_output_end(&output);
    common_clear(&cli);
    return status;
}
