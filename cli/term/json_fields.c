/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/json_fields.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

static struct value nested(const json_t *json, char **text)
{
    struct buf out = BUF_INIT;

    json_print(json, &out);
    *text = buf_take(&out);
    return value_text(*text);
}

static struct value plain(const json_t *item, const char *text)
{
    return text != NULL ? value_numeral(text) : json_to_value(item);
}

int json_fields_add(struct document *document, const char *name,
                    const json_t *object, const json_t *written,
                    struct err *err)
{
    size_t count = json_object_size(object);
    struct table_column *columns = mem_array(count, sizeof(*columns));
    struct value *cells = mem_array(count, sizeof(*cells));
    char **texts = mem_array(count, sizeof(*texts));
    const char *key;
    json_t *item;
    size_t i = 0;
    int status = 0;

    json_object_foreach((json_t *)(uintptr_t)object, key, item)
    {
        bool is_nested = json_is_array(item) || json_is_object(item);
        const char *text = json_string_value(json_object_get(written, key));

        columns[i] = (struct table_column){
            key, NULL, is_nested ? COLUMN_JSON : COLUMN_NUMBER, NULL};
        cells[i] = is_nested ? nested(item, &texts[i]) : plain(item, text);
        i++;
    }
    if (count > 0)
        status = document_fields(document, name, columns, cells, count, err);
    for (i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(cells);
    free(columns);
    return status;
}
