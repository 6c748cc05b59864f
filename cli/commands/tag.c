/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `smtune tag`: adds, removes or lists tags. All jobs that are named get their
 * tags in one transaction, so that a wrong name changes nothing. */
#include <stddef.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/show/jobs/notes_and_tags.h"
#include "cli/term/output.h"

struct options {
    struct opt_texts add, remove;
};

static const struct opt opts[] = {
    {"add", 'a', OPT_TEXTS, offsetof(struct options, add), "TAG",
     "add a tag; may be repeated", 0, NULL},
    {"remove", 'r', OPT_TEXTS, offsetof(struct options, remove), "TAG",
     "remove a tag; may be repeated", 0, NULL},
    {0},
};

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"job", NULL, COLUMN_TEXT, NULL},
    {"tags", NULL, COLUMN_JSON, NULL},
};

struct tags {
    const struct cli *cli;
    struct output *output;
    struct err *err;
};

static int on_remark(void *user, const char *label,
                     const struct remark_row *remark)
{
    const struct tags *tags = user;
    struct buf list = BUF_INIT;
    int result;

    if (remark->tags == NULL)
        return 0;
    if (tags->cli->output == OUTPUT_TABLE)
        notes_and_tags_print(remark->tags, &list);
    else
        buf_add_string(&list, remark->tags);
    result =
        output_row(tags->output,
                   (const struct value[]){
                       label != NULL ? value_int(remark->number) : value_null(),
                       value_text_or_null(label), value_text(buf_text(&list))},
                   tags->err);
    buf_clear(&list);
    return result;
}

static int show(const struct cli *cli, const struct run_view *view, int64_t job,
                struct err *err)
{
    struct tags tags = {cli, output_create(cli, columns, ARRAY_LEN(columns)),
                        err};

    output_when_empty(tags.output, "no tags");
    if (notes_and_tags_each(view, job, on_remark, &tags, err) == 0)
        return output_finish(tags.output, err);
    output_destroy(tags.output);
    return -1;
}

static int change(const struct run_view *view, const int64_t *jobs,
                  size_t count, const struct options *options, struct err *err)
{
    struct tag_change change = {
        .run = view->row.id,
        .add = options->add.items,
        .add_count = options->add.count,
        .remove = options->remove.items,
        .remove_count = options->remove.count,
        .time_ms = clock_wall_ms(),
    };
    struct store *store = notes_and_tags_begin(view, err);
    int result = 0;

    if (store == NULL)
        return -1;
    for (size_t i = 0; i < count && result == 0; i++) {
        change.job = jobs[i];
        result = store_change_tags(store, &change, err);
    }
    return notes_and_tags_end(store, result, err);
}

static int tag(const struct cli *cli, const struct run_view *view,
               char **operands, int count, const struct options *options,
               struct err *err)
{
    size_t job_count = count > 0 ? (size_t)count : 1;
    int64_t *jobs = mem_array(job_count, sizeof(*jobs));
    int result = 0;

    for (size_t i = 0; i < job_count && result == 0; i++)
        result = notes_and_tags_find(view, count > 0 ? operands[i] : NULL,
                                     &jobs[i], err);
    if (result != 0) {
        /* said already */
    } else if (options->add.count + options->remove.count > 0) {
        result = change(view, jobs, job_count, options, err);
    } else if (count > 1) {
        result = err_set(err, ERR_USAGE, "tags of one job, or of all");
    } else {
        result = show(cli, view, count > 0 ? jobs[0] : -1, err);
    }
    free(jobs);
    return result;
}

static int exec_tag(const struct cli *cli, const void *given, char **operands,
                    int count, struct err *err)
{
    struct run_view view;
    int result = run_view_open(&view, cli, operands[0], err);

    if (result == 0)
        result = tag(cli, &view, operands + 1, count - 1, given, err);
    run_view_close(&view);
    return result;
}

const struct cmd cmd_tag = {
    .name = "tag",
    .operands = "RUN [JOB...]",
    .summary = "add tags to a run or its trials, or remove them",
    .details = "A tag is a short text (up to 64 bytes). `smtune ls "
               "--tag`, `smtune trials --tag` and the dashboard filter by "
               "it. Without a JOB the run itself gets the tag. Without "
               "--add and --remove, all tags are listed.",
    .examples = "smtune tag mnist --add baseline\n"
                "smtune tag mnist 7 12 --add good --remove doubtful\n"
                "smtune tag mnist                # list all tags\n"
                "smtune trials mnist --tag good\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .exec = exec_tag,
};
