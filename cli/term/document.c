/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/term/term.h"

struct document {
    const struct cli *cli;
    json_t *json; /* NULL: not as JSON */
    json_t *list; /* borrowed from json; NULL: not in a list */
    const char *list_name;
    const struct table_column *list_columns;
    size_t list_count;
    struct output *output; /* of the list, for people; made at its first row */
};

struct document *document_create(const struct cli *cli)
{
    struct document *document = mem_zero(sizeof(*document));

    document->cli = cli;
    if (cli->output == OUTPUT_JSON || cli->output == OUTPUT_JSONL)
        document->json = json_object();
    return document;
}

void document_destroy(struct document *document)
{
    output_destroy(document->output);
    json_decref(document->json);
    free(document);
}

static void print_heading(const struct document *document, const char *name)
{
    bool colour = document->cli->colour_out;

    printf("\n%s%s:%s\n", term_style(STYLE_BOLD, colour), name,
           term_style(STYLE_PLAIN, colour));
}

static int add_fields(struct document *document, const char *name,
                      json_t *fields)
{
    if (name != NULL)
        return json_object_set_new(document->json, name, fields);
    json_object_update(document->json, fields);
    json_decref(fields);
    return 0;
}

/* For people a part is a group, as those of output_object are. */
static int print_part(struct document *document, const char *name,
                      const struct table_column *columns,
                      const struct value *cells, size_t count, struct err *err)
{
    struct table_column *grouped = mem_array(count, sizeof(*grouped));
    int result;

    for (size_t i = 0; i < count; i++) {
        grouped[i] = columns[i];
        if (grouped[i].group == NULL)
            grouped[i].group = name;
    }
    result = output_object(document->cli, grouped, cells, count, err);
    free(grouped);
    return result;
}

int document_fields(struct document *document, const char *name,
                    const struct table_column *columns,
                    const struct value *cells, size_t count, struct err *err)
{
    if (document->json != NULL)
        return add_fields(document, name,
                          output_to_json(columns, cells, count));
    if (name == NULL)
        return output_object(document->cli, columns, cells, count, err);
    if (document->cli->output == OUTPUT_CSV)
        return 0;
    return print_part(document, name, columns, cells, count, err);
}

int document_known_fields(struct document *document,
                          const struct table_column *columns,
                          const struct value *cells, size_t count,
                          struct err *err)
{
    bool is_for_people =
        document->json == NULL && document->cli->output == OUTPUT_TABLE;
    struct table_column *known = mem_array(count, sizeof(*known));
    struct value *told = mem_array(count, sizeof(*told));
    size_t known_count = 0;
    int result;

    for (size_t i = 0; i < count; i++) {
        if (is_for_people && cells[i].type == VALUE_NULL)
            continue;
        known[known_count] = columns[i];
        told[known_count++] = cells[i];
    }
    result = document_fields(document, NULL, known, told, known_count, err);
    free(known);
    free(told);
    return result;
}

void document_begin_list(struct document *document, const char *name,
                         const struct table_column *columns, size_t count)
{
    document->list_name = name;
    document->list_columns = columns;
    document->list_count = count;
    if (document->json != NULL) {
        document->list = json_array();
        json_object_set_new(document->json, name, document->list);
    }
}

int document_row(struct document *document, const struct value *cells,
                 struct err *err)
{
    if (document->list != NULL) {
        json_array_append_new(document->list,
                              output_to_json(document->list_columns, cells,
                                             document->list_count));
        return 0;
    }
    if (document->cli->output == OUTPUT_CSV)
        return 0;
    if (document->output == NULL) {
        print_heading(document, document->list_name);
        document->output = output_create(document->cli, document->list_columns,
                                         document->list_count);
    }
    return output_row(document->output, cells, err);
}

int document_end_list(struct document *document, struct err *err)
{
    struct output *output = document->output;

    document->list = NULL;
    document->output = NULL;
    return output == NULL ? 0 : output_finish(output, err);
}

int document_finish(struct document *document, struct err *err)
{
    struct buf text = BUF_INIT;
    int result = 0;

    if (document->json == NULL)
        return 0;
    if (document->cli->output == OUTPUT_JSON) {
        json_show_pretty(document->json, &text);
    } else {
        json_show(document->json, &text);
        buf_add_char(&text, '\n');
    }
    if (fputs(buf_text(&text), stdout) < 0)
        result = err_set_errno(err, ERR_FAILED, errno,
                               "cannot write to standard output");
    buf_clear(&text);
    return result;
}

json_t *document_take(struct document *document)
{
    json_t *json = document->json;

    document->json = NULL;
    return json;
}
