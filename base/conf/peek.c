/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include <yaml.h>

#include "base/buf.h"
#include "base/conf/conf_impl.h"
#include "base/text.h"

/* What kind of file a text is, from libyaml's events alone: reading ends at the
 * key that is looked for, or at what conf_parse() refuses, and nothing is kept.
 */

struct peek {
    const char *key;
    int depth;
    size_t scalars[CONF_MAX_DEPTH + 2]; /* of the list at each depth */
    bool is_list[CONF_MAX_DEPTH + 2];
    bool is_map; /* the document is a map of keys */
    bool is_key; /* at depth 1, a key comes next */
    bool found;
};

static void begin(struct peek *p, bool is_map)
{
    if (p->depth++ == 0) {
        p->is_map = is_map;
        p->is_key = true;
    }
    p->is_list[p->depth] = !is_map;
    p->scalars[p->depth] = 0;
}

/* A node at the top level is over. */
static void end_node(struct peek *p)
{
    if (p->depth == 1)
        p->is_key = !p->is_key;
}

static void take_scalar(struct peek *p, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;

    if (p->depth == 1 && p->is_key && strcmp(text, p->key) == 0)
        p->found = true;
    p->scalars[p->depth] += p->is_list[p->depth];
    end_node(p);
}

/* Whether to go on. */
static bool take_event(struct peek *p, const yaml_event_t *event)
{
    switch ((int)event->type) {
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        begin(p, event->type == YAML_MAPPING_START_EVENT);
        return p->is_map && p->depth <= CONF_MAX_DEPTH;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        p->depth--;
        end_node(p);
        return p->depth > 0;
    case YAML_SCALAR_EVENT:
        take_scalar(p, event);
        return p->is_map && !p->found &&
               p->scalars[p->depth] <= CONF_MAX_SCALARS;
    case YAML_ALIAS_EVENT:
        end_node(p);
        return true;
    case YAML_STREAM_END_EVENT:
        return false;
    default:
        return true;
    }
}

bool conf_has_key(const char *text, size_t length, const char *key)
{
    struct peek p = {.key = key};
    yaml_parser_t parser;
    struct buf hidden = BUF_INIT;
    yaml_event_t event;
    bool goes_on = true;

    if (length > CONF_MAX_BYTES || !yaml_parser_initialize(&parser))
        return false;
    text_skip_mark(&text, &length);
    conf_hide_pairs(&text, &length, &hidden);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (goes_on && yaml_parser_parse(&parser, &event)) {
        goes_on = take_event(&p, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    buf_clear(&hidden);
    return p.found;
}
