/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings as JSON, and back. Values that come back are coerced to the type of
 * their parameter, so 1 and 1.0 mean the same. A wrong value is refused with
 * the range or the nearest word. Inactive parameters are absent, not null.
 */
#include "orchestrator/spec/experiment/setting_json.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

json_t *setting_json(const struct space *space, const struct value *point)
{
    json_t *params = json_object();

    for (size_t i = 0; i < space_count(space); i++) {
        if (point[i].type != VALUE_NULL)
            json_object_set_new(params, space_param(space, i)->name,
                                json_from_value(&point[i]));
    }
    return params;
}

json_t *setting_strings_json(const struct space *space,
                             const struct value *point)
{
    json_t *strings = json_object();
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < space_count(space); i++) {
        if (value_is_null(&point[i]))
            continue;
        buf_truncate(&text, 0);
        value_print_argument(&point[i], &text);
        json_object_set_new(strings, space_param(space, i)->name,
                            json_from_text(buf_text(&text)));
    }
    buf_clear(&text);
    return strings;
}

/* ---- and back ---- */

void setting_print_range(const struct param *param, struct buf *out)
{
    buf_add_string(out, "from ");
    value_print(&(struct value){.type = VALUE_REAL, .real = param->min}, out);
    buf_add_string(out, " to ");
    value_print(&(struct value){.type = VALUE_REAL, .real = param->max}, out);
    if (param->step > 0) {
        buf_add_string(out, " in steps of ");
        value_print(&(struct value){.type = VALUE_REAL, .real = param->step},
                    out);
    }
}

char **setting_words(const struct param *param, size_t *count)
{
    char **words;

    *count = (size_t)param_cardinality(param);
    words = mem_array(*count, sizeof(*words));
    for (size_t i = 0; i < *count; i++) {
        struct value value = param_value_at(param, i);
        struct buf text = BUF_INIT;

        value_print(&value, &text);
        words[i] = buf_take(&text);
    }
    return words;
}

static int refuse_number(const struct param *param, const char *text,
                         struct err *err)
{
    struct buf range = BUF_INIT;

    setting_print_range(param, &range);
    err_set(err, ERR_USAGE, "'%.100s' is not a value of parameter '%s' (%s)",
            text, param->name, buf_text(&range));
    buf_clear(&range);
    return -1;
}

static int refuse_word(const struct param *param, const char *text,
                       struct err *err)
{
    char *what = mem_printf("value of parameter '%s':", param->name);
    size_t count;
    char **words = setting_words(param, &count);

    text_unknown(what, text, (const char *const *)words, count, ERR_USAGE, err);
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    free(words);
    free(what);
    return -1;
}

static int read_value(const struct param *param, const json_t *json,
                      struct value *value, struct err *err)
{
    struct value given = json_to_value(json);
    struct buf text = BUF_INIT;
    int rc;

    if (json_is_string(json))
        buf_add_string(&text, json_string_value(json));
    else
        json_print(json, &text);
    if (given.type == VALUE_NULL) /* null, a list or a map */
        given = value_json(buf_text(&text));
    rc = param_coerce(param, &given, value);
    if (rc == 0) {
        buf_clear(&text);
        return 0;
    }
    (param->kind == PARAM_FLOAT || param->kind == PARAM_INT
         ? refuse_number
         : refuse_word)(param, buf_text(&text), err);
    buf_clear(&text);
    return -1;
}

static int refuse_name(const struct space *space, const char *name,
                       struct err *err)
{
    const char **names = mem_array(space_count(space), sizeof(*names));

    for (size_t i = 0; i < space_count(space); i++)
        names[i] = space_param(space, i)->name;
    text_unknown("parameter", name, names, space_count(space), ERR_USAGE, err);
    free(names);
    return -1;
}

int setting_read(const struct space *space, const json_t *params,
                 struct value *values, struct err *err)
{
    const char *name;
    json_t *json;

    for (size_t i = 0; i < space_count(space); i++)
        values[i] = value_null();
    if (json_object_size(params) == 0)
        return err_set(err, ERR_USAGE,
                       "missing parameters: a setting has at least one");
    /* jansson walks over what it may change */
    json_object_foreach((json_t *)(uintptr_t)params, name, json)
    {
        int index = space_find(space, name);

        if (index < 0)
            return refuse_name(space, name, err);
        if (read_value(space_param(space, (size_t)index), json, &values[index],
                       err) != 0)
            return -1;
    }
    return 0;
}
