/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes and tags of a run or its jobs, written and shown. A command has the
 * store open for reading; a change opens it a second time for writing, because
 * readers must not hold the writer's lock. For programs the fields are always
 * there, also empty.
 */
#include "cli/show/jobs/notes_and_tags.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/show/jobs/run_jobs.h"

int notes_and_tags_find(const struct run_view *view, const char *operand,
                        int64_t *job, struct err *err)
{
    struct run_job found = {0};
    int result = 0;

    *job = 0;
    if (operand == NULL)
        return 0;
    result = run_jobs_find(view, operand, &found, err);
    if (result == 0)
        *job = found.id;
    run_job_clear(&found);
    return result;
}

struct store *notes_and_tags_begin(const struct run_view *view, struct err *err)
{
    struct store *store =
        store_open(store_directory(view->store), STORE_WRITE, err);

    if (store == NULL || store_begin(store, err) == 0)
        return store;
    store_close(store);
    return NULL;
}

int notes_and_tags_end(struct store *store, int result, struct err *err)
{
    if (result == 0)
        result = store_commit(store, err);
    store_close(store);
    return result;
}

/* ---- showing ---- */

struct showing {
    const struct run_view *view;
    int64_t job;
    int (*row)(void *user, const char *label, const struct remark_row *remark);
    void *user;
    struct err *err;
};

static int on_remark(void *user, const struct remark_row *remark)
{
    const struct showing *showing = user;
    struct run_job job = {0};
    char number[24];
    int result;

    if (showing->job >= 0 && remark->job != showing->job)
        return 0;
    if (remark->job == 0)
        return showing->row(showing->user, NULL, remark);
    snprintf(number, sizeof(number), "%" PRId64, remark->number);
    result = run_jobs_find(showing->view, number, &job, showing->err);
    if (result == 0)
        result = showing->row(showing->user, job.label, remark);
    run_job_clear(&job);
    return result;
}

int notes_and_tags_each(const struct run_view *view, int64_t job,
                        int (*row)(void *user, const char *label,
                                   const struct remark_row *remark),
                        void *user, struct err *err)
{
    struct showing showing = {view, job, row, user, err};

    return store_each_remark(view->store, view->row.id, on_remark, &showing,
                             err);
}

bool notes_and_tags_has(const char *tags, const char *tag)
{
    json_t *list = tags != NULL && tags[0] != '\0'
                       ? json_parse(tags, strlen(tags), NULL)
                       : NULL;
    bool has = false;

    for (size_t i = 0; i < json_array_size(list); i++)
        has |= strcmp(json_string_value(json_array_get(list, i)), tag) == 0;
    json_decref(list);
    return has;
}

void notes_and_tags_print(const char *tags, struct buf *out)
{
    json_t *list = json_parse(tags, strlen(tags), NULL);

    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(out, "%s%s", i == 0 ? "" : ", ",
                   json_string_value(json_array_get(list, i)));
    json_decref(list);
}

/* ---- as fields ---- */

struct adding {
    struct document *document;
    const struct cli *cli;
    bool is_added;
    struct err *err;
};

static int add_for_programs(const struct adding *adding, const char *note,
                            const char *tags)
{
    static const struct table_column columns[] = {
        {"note", NULL, COLUMN_TEXT, NULL}, {"tags", NULL, COLUMN_JSON, NULL}};
    const struct value cells[ARRAY_LEN(columns)] = {
        value_text_or_null(note),
        value_text(tags != NULL ? tags : "[]"),
    };

    return document_fields(adding->document, NULL, columns, cells,
                           ARRAY_LEN(columns), adding->err);
}

static int add_for_people(const struct adding *adding, const char *note,
                          const char *tags)
{
    struct table_column columns[2];
    struct value cells[ARRAY_LEN(columns)];
    struct buf list = BUF_INIT;
    size_t count = 0;
    int result = 0;

    if (note != NULL) {
        columns[count] = (struct table_column){"note", NULL, COLUMN_TEXT, NULL};
        cells[count++] = value_text(note);
    }
    if (tags != NULL) {
        notes_and_tags_print(tags, &list);
        columns[count] = (struct table_column){"tags", NULL, COLUMN_TEXT, NULL};
        cells[count++] = value_text(buf_text(&list));
    }
    if (count > 0)
        result = document_fields(adding->document, NULL, columns, cells, count,
                                 adding->err);
    buf_clear(&list);
    return result;
}

static int add(const struct adding *adding, const char *note, const char *tags)
{
    return adding->cli->output == OUTPUT_TABLE
               ? add_for_people(adding, note, tags)
               : add_for_programs(adding, note, tags);
}

static int add_remark(void *user, const char *label,
                      const struct remark_row *remark)
{
    struct adding *adding = user;

    (void)label;
    adding->is_added = true;
    return add(adding, remark->comment, remark->tags);
}

int notes_and_tags_add(struct document *document, const struct cli *cli,
                       const struct run_view *view, int64_t job,
                       struct err *err)
{
    struct adding adding = {document, cli, false, err};

    if (notes_and_tags_each(view, job, add_remark, &adding, err) != 0)
        return -1;
    return adding.is_added ? 0 : add(&adding, NULL, NULL);
}
