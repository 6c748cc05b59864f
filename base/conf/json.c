/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/json.h"

json_t *conf_to_json(const struct conf_node *node)
{
    json_t *json;

    switch (node->type) {
    case CONF_BOOL:
        return json_boolean(node->boolean);
    case CONF_INT:
        return json_integer(node->integer);
    case CONF_REAL:
        return json_from_real(node->real);
    case CONF_TEXT:
        return json_from_text(node->text);
    case CONF_LIST:
        json = json_array();
        for (size_t i = 0; i < node->count; i++)
            json_array_append_new(json, conf_to_json(node->items[i]));
        return json;
    case CONF_MAP:
        json = json_object();
        for (size_t i = 0; i < node->count; i++)
            json_object_set_new(json, node->keys[i]->text,
                                conf_to_json(node->items[i]));
        return json;
    case CONF_NULL:
        break;
    }
    return json_null();
}
