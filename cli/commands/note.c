/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune note`: sets, clears or lists notes. A note is written directly to the
 * store while an engine may run, because the engine neither reads nor writes
 * it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "cli/cmd.h"
#include "cli/show/jobs/notes_and_tags.h"
#include "cli/term/output.h"

struct options {
    const char *text;
    bool clear;
};

static const struct opt opts[] = {
    {"message", 'm', OPT_TEXT, offsetof(struct options, text), "TEXT",
     "text of the note; - reads it from standard input", 0, NULL},
    {"clear", 0, OPT_FLAG, offsetof(struct options, clear), NULL,
     "remove the note", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"job", NULL, COLUMN_TEXT, NULL},
    {"note", NULL, COLUMN_TEXT, NULL},
};

struct notes {
    const struct cli *cli;
    const struct run_view *view;
    struct output *output; /* for programs */
    struct err *err;
};

/* The lines of a long one are indented below whom they are about. */
static void print_block(const char *about, const char *text)
{
    bool is_long = strchr(text, '\n') != NULL;

    printf("%s:%s", about, is_long ? "\n" : " ");
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        printf("%s%.*s\n", is_long ? "  " : "", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static int on_remark(void *user, const char *label,
                     const struct remark_row *remark)
{
    const struct notes *notes = user;
    bool is_job = label != NULL;

    if (remark->comment == NULL)
        return 0;
    if (notes->cli->output == OUTPUT_TABLE) {
        print_block(is_job ? label : notes->view->row.name, remark->comment);
        return 0;
    }
    return output_row(notes->output,
                      (const struct value[]){
                          is_job ? value_int(remark->number) : value_null(),
                          is_job ? value_text(label) : value_null(),
                          value_text(remark->comment)},
                      notes->err);
}

static int show(const struct cli *cli, const struct run_view *view, int64_t job,
                struct err *err)
{
    struct notes notes = {cli, view, NULL, err};
    int result;

    if (cli->output != OUTPUT_TABLE)
        notes.output = output_create(cli, columns, ARRAY_LEN(columns));
    result = notes_and_tags_each(view, job, on_remark, &notes, err);
    if (notes.output != NULL && result == 0)
        return output_finish(notes.output, err);
    if (notes.output != NULL)
        output_destroy(notes.output);
    return result;
}

static int set(const struct run_view *view, int64_t job, const char *text,
               struct err *err)
{
    struct store *store = notes_and_tags_begin(view, err);

    if (store == NULL)
        return -1;
    return notes_and_tags_end(
        store,
        store_set_comment(store, view->row.id, job, text, clock_wall_ms(), err),
        err);
}

/* Of what an editor or a pipe gave, without the line ends behind it. */
static int read_text(struct buf *text, struct err *err)
{
    if (fs_read("/dev/stdin", STORE_COMMENT_MAX_BYTES, text, err) != 0)
        return err_prefix(err, "the note");
    while (text->length > 0 && text->data[text->length - 1] == '\n')
        buf_truncate(text, text->length - 1);
    return 0;
}

static int exec_note(const struct cli *cli, const void *given, char **operands,
                     int count, struct err *err)
{
    const struct options *options = given;
    struct buf text = BUF_INIT;
    struct run_view view;
    int64_t job;
    int result;

    if (options->clear && options->text != NULL)
        return err_set(err, ERR_USAGE,
                       "--message and --clear exclude each other");
    result = run_view_open(&view, cli, operands[0], err);
    if (result == 0)
        result = notes_and_tags_find(&view, count > 1 ? operands[1] : NULL,
                                     &job, err);
    if (result == 0 && options->text == NULL && !options->clear) {
        result = show(cli, &view, count > 1 ? job : -1, err);
    } else if (result == 0) {
        if (options->text != NULL && strcmp(options->text, "-") == 0)
            result = read_text(&text, err);
        else if (options->text != NULL)
            buf_add_string(&text, options->text);
        if (result == 0)
            result = set(&view, job, buf_text(&text), err);
    }
    buf_clear(&text);
    run_view_close(&view);
    return result;
}

const struct cmd cmd_note = {
    .name = "note",
    .operands = "RUN [JOB]",
    .summary = "write a note on a run, or on one of its trials or jobs",
    .details = "A run has one note, and each of its trials or jobs has "
               "one. A new note replaces the old one. Without a text, the "
               "notes are listed. A note has up to 16 KiB.\n\n"
               "Notes are part of the record: the dashboard shows them, a "
               "resumed run keeps them, and they are removed with the "
               "run. The events of the run keep earlier notes.",
    .examples = "smtune note mnist -m 'the old data, do not trust'\n"
                "smtune note mnist 7 -m 'explodes at step 300'\n"
                "smtune note mnist              # list all notes\n"
                "smtune note mnist 7 --clear\n"
                "git log -1 | smtune note mnist -m -\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 2,
    .exec = exec_note,
};
