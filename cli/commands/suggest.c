/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune suggest`: requests and answers as lines of JSON; orchestrator/search/
 * has the session that answers. Every line gets exactly one answer, in order,
 * and answers are written before the next read blocks: the other program waits
 * for them. A line that is too long is skipped to its end and answered by an
 * error, so that memory stays bounded.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/drive/foreground.h"
#include "cli/drive/warm_start_view.h"
#include "orchestrator/search/ask_tell.h"
#include "orchestrator/spec/experiment/experiment.h"

enum { READ_BYTES = 1 << 16 };

struct options {
    struct opt_texts set;
    bool stdio;
};

static const struct opt opts[] = {
    {"stdio", 0, OPT_FLAG, offsetof(struct options, stdio), NULL,
     "read requests from standard input, answer on standard "
     "output",
     0, NULL},
    DRIVE_OPT_SET(struct options, set),
    {0},
};

struct lines {
    struct buf in;   /* what has not been answered yet */
    size_t scanned;  /* of it, without a newline */
    bool is_skipped; /* the line is too long: its rest is passed over */
    struct buf out;
};

static void answer(struct lines *lines, struct ask_tell *ask_tell,
                   const char *line, size_t length)
{
    if (!lines->is_skipped && !text_is_blank(line, length))
        ask_tell_answer(ask_tell, line, length, &lines->out);
    lines->is_skipped = false;
}

static void skip_long_line(struct lines *lines)
{
    if (!lines->is_skipped)
        buf_printf(&lines->out,
                   "{\"error\":\"line too long: more than %d bytes\"}\n",
                   ASK_TELL_MAX_LINE);
    lines->is_skipped = true;
    buf_truncate(&lines->in, 0);
    lines->scanned = 0;
}

/* Answers every whole line; at the end of input also the last one. */
static void answer_lines(struct lines *lines, struct ask_tell *ask_tell,
                         bool is_end)
{
    struct buf *in = &lines->in;
    size_t start = 0, from = lines->scanned;

    while (from < in->length) {
        const char *newline = memchr(in->data + from, '\n', in->length - from);

        if (newline == NULL)
            break;
        answer(lines, ask_tell, in->data + start,
               (size_t)(newline - in->data) - start);
        start = from = (size_t)(newline - in->data) + 1;
    }
    buf_consume(in, start);
    lines->scanned = in->length;
    if (in->length > ASK_TELL_MAX_LINE)
        skip_long_line(lines);
    if (is_end && in->length > 0)
        answer(lines, ask_tell, in->data, in->length);
}

static int flush_answers(struct lines *lines, struct err *err)
{
    if (lines->out.length > 0 && (fwrite(lines->out.data, 1, lines->out.length,
                                         stdout) != lines->out.length ||
                                  fflush(stdout) != 0)) {
        err_set_errno(err, ERR_FAILED, errno,
                      "cannot write to standard output");
        if (errno == EPIPE)
            err->text[0] = '\0';
        return -1;
    }
    buf_truncate(&lines->out, 0);
    return 0;
}

static int serve(struct ask_tell *ask_tell, struct err *err)
{
    struct lines lines = {0};
    ssize_t size;
    int status = 0;

    do {
        size =
            read(STDIN_FILENO, buf_reserve(&lines.in, READ_BYTES), READ_BYTES);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0) {
            status = err_set_errno(err, ERR_FAILED, errno,
                                   "cannot read standard input");
            break;
        }
        lines.in.length += (size_t)size;
        answer_lines(&lines, ask_tell, size == 0);
        status = flush_answers(&lines, err);
    } while (size != 0 && status == 0);
    buf_clear(&lines.in);
    buf_clear(&lines.out);
    return status;
}

static int check_usage(const struct options *options, const char *file,
                       struct err *err)
{
    if (!options->stdio)
        return err_set(err, ERR_USAGE,
                       "missing option --stdio (usage: smtune suggest --stdio "
                       "FILE)");
    if (strcmp(file, "-") == 0)
        return err_set(err, ERR_USAGE,
                       "suggest: FILE cannot be -, because requests come from "
                       "standard input");
    return 0;
}

static int exec_suggest(const struct cli *cli, const void *given,
                        char **operands, int count, struct err *err)
{
    const struct options *options = given;
    struct diags *diags;
    struct experiment *experiment;
    struct warm_start *warm = NULL;
    struct ask_tell *ask_tell = NULL;
    int status = -1;

    (void)count;
    if (check_usage(options, operands[0], err) != 0)
        return -1;
    diags = diags_create(operands[0]);
    experiment = experiment_load_for_search(operands[0], options->set.items,
                                            options->set.count, diags, err);
    if (experiment == NULL) {
        status = foreground_print_diags(cli, diags);
    } else {
        if (warm_start_view_read(cli, experiment, &warm, err) == 0)
            ask_tell = ask_tell_create(experiment, warm, err);
        if (ask_tell != NULL)
            status = serve(ask_tell, err);
        ask_tell_destroy(ask_tell);
    }
    warm_start_destroy(warm);
    experiment_destroy(experiment);
    diags_destroy(diags);
    return status;
}

const struct cmd cmd_suggest = {
    .name = "suggest",
    .operands = "FILE",
    .summary = "use the search from your own program (ask and tell)",
    .details = "Your program runs the trials. It asks for settings and "
               "reports results in lines of JSON, and gets a line of JSON "
               "for each:\n\n"
               " {\"op\":\"ask\",\"n\":1}\n"
               "   {\"trials\":[{\"id\":1,\"params\":{\"lr\":0.01}}]}\n"
               " {\"op\":\"tell\",\"id\":1,\"value\":0.3}\n"
               "   {\"ok\":true}\n"
               " {\"op\":\"tell\",\"id\":1,\"state\":\"failed\"}\n"
               "   {\"ok\":true}\n"
               " {\"op\":\"observe\",\"id\":1,\"step\":3,\"value\":0.4}\n"
               "   {\"decision\":\"continue\"}\n"
               " {\"op\":\"best\"}\n"
               "   {\"id\":1,\"value\":0.3,\"params\":{\"lr\":0.01}}\n"
               " {\"op\":\"why\",\"id\":1}\n"
               "   {\"id\":1,\"method\":\"sobol\", ...}\n"
               " an invalid request\n"
               "   {\"error\":\"...\"}\n\n"
               "Values are in the direction of the objective. A null or "
               "non-finite value means that the trial failed. With "
               "several objectives use \"values\" in place of \"value\", "
               "and \"best\" returns the \"front\". With constraints on "
               "metrics, \"constraints\" is a list of numbers, feasible "
               "at 0 or below. Any number of trials may be open. If no "
               "setting is left, the answer contains \"exhausted\". The "
               "session ends with the input and records nothing. FILE "
               "needs no `trial`. Its budget is used to plan the search, "
               "and does not end it.\n\n"
               "With a schedule, a trial has a \"budget\", the resource "
               "up to which to run it. A promoted trial is returned "
               "again, as \"resumed\". The answers to \"observe\" and \"tell\" "
               "contain the decision \"pause\", \"stop\" or \"continue\". "
               "The answer to \"ask\" contains \"waiting\" if the search "
               "needs results first, or \"done\".",
    .examples =
        "smtune suggest --stdio experiment.yaml\n"
        "echo '{\"op\":\"ask\",\"n\":3}' | smtune suggest --stdio e.yaml\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_suggest,
};
