/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune each`: a command for each line, as a run.
 *
 * The lines become a file in the run's folder, and the command a workflow of
 * one step whose matrix has these lines (cli/each/spec.h). All else is the run
 * of a workflow, so every command works on it. What is here is the order of
 * things: everything is read and checked before the store is opened, and the
 * store is opened behind the fork of --detach.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/drive/background.h"
#include "cli/drive/detach.h"
#include "cli/drive/foreground.h"
#include "cli/drive/log_options.h"
#include "cli/drive/workflow_end.h"
#include "cli/each/command.h"
#include "cli/each/drive.h"
#include "cli/each/end.h"
#include "cli/each/find.h"
#include "cli/each/input.h"
#include "cli/each/lines.h"
#include "cli/each/open.h"
#include "cli/each/preview.h"
#include "cli/each/spec.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

struct options {
    const char *format, *name, *results, *executor, *memory, *gpus;
    int64_t jobs, retries, cpus;
    struct opt_duration timeout;
    bool has_nuls, is_shell, keeps_order, fails_fast;
    bool dry_run, detach, resume, is_new;
    struct opt_texts set;
    struct log_options log;
};

static const struct opt opts[] = {
    {"jobs", 'j', OPT_INT, offsetof(struct options, jobs), "N",
     "commands at the same time (default: as many as CPUs)", 1, NULL},
    {"retries", 0, OPT_INT, offsetof(struct options, retries), "N",
     "retry a command that failed up to N times", 0, NULL},
    {"timeout", 0, OPT_DURATION, offsetof(struct options, timeout), "TIME",
     "time limit of a command", 1, NULL},
    {"cpus", 0, OPT_INT, offsetof(struct options, cpus), "N",
     "CPUs of a command", 1, NULL},
    {"gpus", 0, OPT_TEXT, offsetof(struct options, gpus), "N",
     "GPUs of a command", 0, NULL},
    {"memory", 0, OPT_TEXT, offsetof(struct options, memory), "SIZE",
     "memory limit of a command, such as 4G", 0, NULL},
    {"executor", 0, OPT_TEXT, offsetof(struct options, executor), "NAME",
     "where commands run: local or slurm", 0, NULL},
    {"shell", 0, OPT_FLAG, offsetof(struct options, is_shell), NULL,
     "run COMMAND as a script of /bin/sh; without COMMAND, each line", 0, NULL},
    {"as", 0, OPT_CHOICE, offsetof(struct options, format), "FORMAT",
     "format of LINES: lines, csv, tsv or jsonl (default: by its name)", 0,
     each_format_names},
    {"null", '0', OPT_FLAG, offsetof(struct options, has_nuls), NULL,
     "lines end with NUL, as of find -print0", 0, NULL},
    {"keep-order", 'k', OPT_FLAG, offsetof(struct options, keeps_order), NULL,
     "print the outputs in the order of the lines", 0, NULL},
    {"results", 0, OPT_TEXT, offsetof(struct options, results), "DIR",
     "write the output of line N to DIR/N.out, too", 0, NULL},
    {"fail-fast", 0, OPT_FLAG, offsetof(struct options, fails_fast), NULL,
     "start no further command after one has failed", 0, NULL},
    {"dry-run", 0, OPT_FLAG, offsetof(struct options, dry_run), NULL,
     "print the commands; start nothing", 0, NULL},
    BACKGROUND_OPT_DETACH(struct options, detach),
    {"resume", 'r', OPT_FLAG, offsetof(struct options, resume), NULL,
     "do not retry lines that failed earlier", 0, NULL},
    {"new", 0, OPT_FLAG, offsetof(struct options, is_new), NULL,
     "start a new run, also if there is one of these lines", 0, NULL},
    {"name", 'n', OPT_TEXT, offsetof(struct options, name), "NAME",
     "name of the run (default: the program's, with a digest)", 0, NULL},
    DRIVE_OPT_SET(struct options, set),
    LOG_OPTIONS(struct options, log),
    {0},
};

struct each {
    const struct cli *cli;
    const struct options *options;
    struct each_input input;
    struct each_command command;
    struct each_lines lines;
    struct each_order order; /* of these */
    struct each_found found;
    char *folder; /* the current one */
};

/* ---- what is asked for ---- */

/* The words of COMMAND, behind LINES and the dashes. */
static int split(const struct options *options, char **operands, int count,
                 size_t *word_count, struct err *err)
{
    *word_count = count > 2 ? (size_t)count - 2 : 0;
    if (strcmp(operands[0], "--") == 0)
        return err_set(err, ERR_USAGE,
                       "each: missing argument LINES before --");
    if (count > 1 && strcmp(operands[1], "--") != 0)
        return err_set(err, ERR_USAGE,
                       "each: unexpected argument '%s' (write -- before "
                       "COMMAND, and a pattern of files in quotes)",
                       operands[1]);
    if (*word_count == 0 && !options->is_shell)
        return err_set(err, ERR_USAGE,
                       "each: missing argument COMMAND (usage: smtune each "
                       "[OPTION...] LINES -- COMMAND [ARGUMENT]...)");
    if (options->is_new && options->resume)
        return err_set(err, ERR_USAGE, "--new and --resume exclude each other");
    return 0;
}

static int find_folder(struct each *each, struct err *err)
{
    json_t *text;

    each->folder = fs_absolute(".");
    text = json_string(each->folder);
    if (text == NULL)
        return err_set(err, ERR_USAGE,
                       "each: the path of the current folder is not UTF-8");
    json_decref(text);
    return 0;
}

static void fill_order(struct each *each)
{
    const struct options *options = each->options;

    each->order = (struct each_order){
        .command = &each->command,
        .lines = &each->lines,
        .folder = each->folder,
        .executor = options->executor,
        .memory = options->memory,
        .gpus = options->gpus,
        .jobs = options->jobs,
        .cpus = options->cpus,
        .retries = options->retries,
        .timeout_ms = options->timeout.ms,
        .fails_fast = options->fails_fast,
        .set = options->set.items,
        .set_count = options->set.count,
    };
}

static void mention_lines(const struct each *each)
{
    const struct each_lines *lines = &each->lines;

    if (each->cli->quiet)
        return;
    if (lines->blank > 0)
        fprintf(stderr, "smtune: %" PRId64 " blank line%s left out\n",
                lines->blank, lines->blank == 1 ? " is" : "s are");
    if (lines->repeated > 0)
        fprintf(stderr,
                "smtune: %" PRId64 " line%s an earlier one; each of them "
                "runs\n",
                lines->repeated,
                lines->repeated == 1 ? " repeats" : "s repeat");
}

static int print_nothing(const struct each *each)
{
    each_end_print_empty(each->cli, each->input.path, each->options->dry_run);
    return 0;
}

/* ---- its run ---- */

static int run_here(const struct each *each, struct detach *detach,
                    struct err *err)
{
    bool is_new = each->found.id == 0;
    struct store *store =
        store_open(each->cli->store, is_new ? STORE_CREATE : STORE_WRITE, err);
    struct run *run = NULL;
    int result = -1;

    if (store != NULL)
        run = each_open(&(struct each_opening){.cli = each->cli,
                                               .order = &each->order,
                                               .found = &each->found,
                                               .name = each->options->name},
                        store, err);
    if (run != NULL &&
        (detach == NULL || background_tell(each->cli, run, detach, err) == 0))
        result = each_drive(
            &(struct each_driving){.cli = each->cli,
                                   .lines = &each->lines,
                                   .results = each->options->results,
                                   .keeps_order = each->options->keeps_order,
                                   .is_detached = detach != NULL},
            run, err);
    run_close(run);
    store_close(store);
    return result;
}

static int run(const struct each *each, struct err *err)
{
    const char *results = each->options->results;
    struct detach detach = {0};

    /* what cannot be made is no matter of a run that has begun */
    if (results != NULL && fs_make_directories(results, err) != 0)
        return -1;
    if (!each->options->detach)
        return run_here(each, NULL, err);
    if (detach_fork(&detach, err) != 0)
        return -1;
    return detach.child > 0 ? detach_wait(&detach)
                            : run_here(each, &detach, err);
}

static int print_over(const struct each *each, struct err *err)
{
    if (each->options->results != NULL &&
        each_write_results(each->cli->store, each->found.id,
                           each->options->results, err) != 0)
        return -1;
    if (!each->cli->quiet)
        fprintf(stderr,
                "smtune: run '%s' has succeeded: no line is left (--new runs "
                "all of them again)\n",
                each->found.name);
    return each->cli->output != OUTPUT_TABLE
               ? workflow_end_print(each->cli, each->found.name, err)
               : 0;
}

/* ---- the command ---- */

/* The order as it is, before anything is opened or written. */
static int check(const struct each *each, const char *name, struct spec *spec,
                 struct err *err)
{
    char *directory = mem_printf("%s/runs/%s", each->cli->store, name);
    char *path = each_spec_lines_path(&each->order, directory);
    int result =
        each_spec_parse(each->cli, &each->order, path, NULL, spec, err);

    free(path);
    free(directory);
    return result;
}

static int start(struct each *each, struct err *err)
{
    const struct each_request request = {
        .name = each->options->name,
        .is_new = each->options->is_new,
        .leaves_failed = each->options->resume,
    };
    enum each_next next =
        each_find(each->cli, &each->order, &request, &each->found, err);

    if (next == EACH_NEW)
        each->found.id = 0;
    if (next == EACH_NOTHING)
        return print_over(each, err);
    return next != EACH_ERROR ? run(each, err) : -1;
}

static int check_and_start(struct each *each, struct err *err)
{
    char *own = each_spec_name(&each->order);
    const char *name = each->options->name;
    struct spec spec = {NULL, NULL};
    int result = name != NULL ? run_check_name(name, err) : 0;

    if (result == 0)
        result = check(each, name != NULL ? name : own, &spec, err);
    if (result == 0 && each->options->dry_run)
        result = each_preview_print(each->cli, &spec, &each->lines,
                                    name != NULL ? name : own, err);
    else if (result == 0)
        result = start(each, err);
    spec_clear(&spec);
    free(own);
    return result;
}

/* words[word_count] of COMMAND. */
static int read_and_start(struct each *each, const char *path, char **words,
                          size_t word_count, struct err *err)
{
    const struct options *options = each->options;
    const struct each_source source = {
        .path = path,
        .format = options->format,
        .has_nuls = options->has_nuls,
    };

    if (strcmp(source.path, "-") == 0 && isatty(STDIN_FILENO) &&
        !each->cli->quiet)
        fprintf(stderr, "smtune: reads lines from the terminal; Ctrl-D ends "
                        "them\n");
    if (each_input_read(&each->input, &source, err) != 0)
        return -1;
    if (each_input_is_empty(&each->input))
        return print_nothing(each);
    if (each_command_build(&each->command, &each->input,
                           (const char *const *)words, word_count,
                           options->is_shell, err) != 0 ||
        each_lines_build(&each->lines, &each->input, &each->command, err) != 0)
        return -1;
    mention_lines(each);
    if (each->lines.count == 0)
        return print_nothing(each);
    if (find_folder(each, err) != 0)
        return -1;
    fill_order(each);
    return check_and_start(each, err);
}

static int exec(const struct cli *cli, const void *given, char **operands,
                int count, struct err *err)
{
    const struct options *options = given;
    const struct cli own = log_options_apply(cli, &options->log);
    struct each each = {.cli = &own, .options = options};
    size_t word_count;
    int result = split(options, operands, count, &word_count, err);

    if (result == 0)
        result = read_and_start(&each, operands[0],
                                operands + count - word_count, word_count, err);
    each_input_clear(&each.input);
    each_command_clear(&each.command);
    each_lines_clear(&each.lines);
    free(each.found.name);
    free(each.folder);
    return result;
}

const struct cmd cmd_each = {
    .name = "each",
    .operands = "LINES -- COMMAND [ARGUMENT]...",
    .summary = "run a command for each line of a file",
    .details =
        "LINES is a file, - for standard input, or a pattern of files in "
        "quotes, whose paths are the lines. In COMMAND, {} becomes the line; "
        "without any of these, the line is the last word:\n\n"
        "  {/} {//}    its basename; its folder\n"
        "  {.} {/.}    without its extension; the basename without it\n"
        "  {#}         its number, from 1, without blank lines\n"
        "  {NAME}      a column of a CSV or TSV file with a header, or of "
        "JSON\n"
        "              lines; {NAME/}, {NAME.} and so on, too; {2} is the\n"
        "              second column\n"
        "  \\{}         the text {} itself\n\n"
        "A line is never more than one word, and no shell reads it. With "
        "--shell, COMMAND is a script, and a line is one quoted word in it. "
        "Blank lines are left out. A CR before the end of a line is no part of "
        "it. A line is UTF-8, of at most 128 KiB.\n\n"
        "This is a run, with a record, the dashboard and all commands: line 3 "
        "is its job 3 (smtune logs RUN 3). The output of a command, its "
        "standard error with it, is printed when the command has ended. smtune "
        "show RUN --file prints the workflow that smtune each made.\n\n"
        "The same command on the same lines in the same folder continues its "
        "run: after Ctrl-C, a crash or failures it runs the lines that have "
        "not succeeded. Limits, retries and --jobs may change. Ctrl-C once "
        "lets running commands finish, twice stops them, three times kills "
        "them.\n\n"
        "Exit status: 0 all succeeded; 1 a command failed; 2 COMMAND has "
        "errors; 3 LINES or an option has; 130 or 143 stopped.",
    .examples =
        "smtune each files.txt -- gzip -k {}\n"
        "find . -name '*.wav' -print0 | smtune each -0 - -- flac {} -o "
        "{.}.flac\n"
        "smtune each '*.png' -j 8 -- convert {} small/{/.}.jpg\n"
        "smtune each sites.csv --retries 3 --timeout 1m -- curl -o {id}.html "
        "{url}\n"
        "smtune each files.txt -k --shell -- 'zcat {} | wc -l'\n"
        "smtune each files.txt --executor slurm --memory 4G --detach -- "
        "./score {}\n"
        "smtune each commands.txt --shell   # each line is a command\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .keeps_dashes = true,
    .has_loop = true,
    .exec = exec,
};
