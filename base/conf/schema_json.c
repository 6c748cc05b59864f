/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON Schema (draft 07) of a table of keys, for editors. It is made from
 * the same table that checks files, so that both agree. Where JSON Schema
 * cannot express a check, it accepts more than the check does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/conf/json.h"
#include "base/conf/schema_impl.h"
#include "base/json.h"

static json_t *key_json(const struct schema_key *key);

static json_t *free_map_json(const struct schema_key *element)
{
    return json_pack("{ssso}", "type", "object", "additionalProperties",
                     key_json(element));
}

static json_t *map_json(const struct schema_key *keys)
{
    json_t *json = json_pack("{ss}", "type", "object");
    json_t *properties = json_object();
    json_t *required = json_array();

    for (; keys->name != NULL; keys++) {
        json_object_set_new(properties, keys->name, key_json(keys));
        if (keys->required)
            json_array_append_new(required, json_string(keys->name));
    }
    json_object_set_new(json, "properties", properties);
    json_object_set_new(json, "additionalProperties", json_false());
    if (json_array_size(required) > 0)
        json_object_set(json, "required", required);
    json_decref(required);
    return json;
}

static json_t *limit_json(double limit)
{
    return limit == floor(limit) && fabs(limit) <= 0x1p53
               ? json_integer((json_int_t)limit)
               : json_real(limit);
}

static json_t *bounded_json(const char *type, const struct schema_key *key)
{
    json_t *json = json_pack("{ss}", "type", type);

    if (key->min != 0 || key->max != 0) {
        json_object_set_new(json, "minimum", limit_json(key->min));
        json_object_set_new(json, "maximum", limit_json(key->max));
    }
    return json;
}

static json_t *text_json(const struct schema_key *key)
{
    json_t *json = json_pack("{ss}", "type", "string");
    size_t count;
    const char **choices = schema_choices(key, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(choices[i]));
    if (count > 0)
        json_object_set(json, "enum", list);
    if (key->min > 0)
        json_object_set_new(json, "minLength", json_integer(1));
    json_decref(list);
    free(choices);
    return json;
}

static json_t *alternative_json(unsigned type, const struct schema_key *key)
{
    switch (type) {
    case SCHEMA_BOOL:
        return json_pack("{ss}", "type", "boolean");
    case SCHEMA_INT:
        return bounded_json("integer", key);
    case SCHEMA_NUMBER:
        return bounded_json("number", key);
    case SCHEMA_TEXT:
        return text_json(key);
    case SCHEMA_DURATION:
        return json_pack("{s[ss]ss}", "type", "number", "string", "pattern",
                         "^([0-9.]+(d|h|m|s|ms))+$|^[0-9.]+$");
    case SCHEMA_BYTES:
        return json_pack("{s[ss]ss}", "type", "number", "string", "pattern",
                         "^[0-9.]+([KMGTPkmgtp]([Ii]?[Bb])?|[Bb])?$");
    case SCHEMA_SCALAR:
        return json_pack("{s[sss]}", "type", "string", "number", "boolean");
    case SCHEMA_MAP:
        return key->keys != NULL ? map_json(key->keys)
                                 : free_map_json(key->element);
    case SCHEMA_LIST:
        return json_pack("{ssso}", "type", "array", "items",
                         key_json(key->element));
    case SCHEMA_ANY_LIST:
        return json_pack("{ss}", "type", "array");
    case SCHEMA_ANY_MAP:
        return json_pack("{ss}", "type", "object");
    case SCHEMA_AUTO:
        return json_pack("{ss}", "const", "auto");
    default:
        return json_pack("{ss}", "type", "null");
    }
}

static void add_alternatives(json_t *list, const struct schema_key *key)
{
    for (unsigned type = 1; type <= SCHEMA_ANY_MAP; type <<= 1)
        if ((key->type & type) != 0)
            json_array_append_new(list, alternative_json(type, key));
}

static void add_description(json_t *json, const struct schema_key *key)
{
    struct buf text = BUF_INIT;

    if (key->doc != NULL)
        buf_add_string(&text, key->doc);
    if (key->fallback != NULL)
        buf_printf(&text, " Default: %s.", key->fallback);
    if (text.length > 0)
        json_object_set_new(json, "description", json_string(text.data));
    buf_clear(&text);
}

static void add_example(json_t *json, const struct schema_key *key)
{
    struct conf_doc *doc;

    if (key->example == NULL)
        return;
    doc = conf_parse(key->example, strlen(key->example), NULL);
    if (doc != NULL)
        json_object_set_new(json, "examples",
                            json_pack("[o]", conf_to_json(conf_root(doc))));
    conf_destroy(doc);
}

/* A map of such keys, which has none of their own keys. */
static json_t *nested_json(const struct schema_key *key)
{
    json_t *names = json_array();

    for (const struct schema_key *inner = key->keys; inner->name != NULL;
         inner++)
        json_array_append_new(names, json_string(inner->name));
    return json_pack("{sss{s{so}}}", "type", "object", "propertyNames", "not",
                     "enum", names);
}

static json_t *key_json(const struct schema_key *key)
{
    const struct schema_key *shorthand = schema_find(key->keys, key->shorthand);
    json_t *list = json_array();
    json_t *json;

    add_alternatives(list, key);
    if (shorthand != NULL)
        add_alternatives(list, shorthand);
    if (key->nests)
        json_array_append_new(list, nested_json(key));
    if (json_array_size(list) == 1)
        json = json_incref(json_array_get(list, 0));
    else
        json = json_pack("{sO}", "anyOf", list);
    json_decref(list);
    add_description(json, key);
    add_example(json, key);
    return json;
}

void schema_print_json(const struct schema_key *keys, const char *title,
                       struct buf *out)
{
    json_t *json =
        json_pack("{ssss}", "$schema",
                  "http://json-schema.org/draft-07/schema#", "title", title);
    json_t *map = map_json(keys);

    json_object_update(json, map);
    json_print_pretty(json, out);
    json_decref(map);
    json_decref(json);
}
