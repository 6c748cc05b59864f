/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/setting.h"

#include "base/buf.h"

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
        if (point[i].type == VALUE_NULL)
            continue;
        buf_truncate(&text, 0);
        value_print(&point[i], &text);
        json_object_set_new(strings, space_param(space, i)->name,
                            json_from_text(buf_text(&text)));
    }
    buf_clear(&text);
    return strings;
}
