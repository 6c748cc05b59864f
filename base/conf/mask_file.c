/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libyaml's events are walked together with the schema, which describes the
 * keys. Each scalar is noted with its place in the text and with what becomes
 * of it: a key is copied, a secret value is masked, and another value may hold
 * a secret in its text. An alias in a secret place makes secrets of what its
 * anchor has. Then the text is written anew, scalar by scalar, with what is
 * between them, punctuation and comments. The text between scalars is masked
 * like any text.
 */
#include "base/conf/mask_file.h"

#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/buf.h"
#include "base/conf/conf_impl.h"
#include "base/conf/mask_impl.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/text.h"

struct found {
    size_t start, end; /* bytes of the text */
    enum scalar_style style;
    enum treatment treatment;
};

struct anchor {
    char *name;
    size_t first, end; /* of what was found */
};

struct masking {
    const char *text;
    size_t length;
    yaml_parser_t parser;
    struct mask *mask; /* of secrets that the text has elsewhere, too */
    size_t rune, byte; /* a place in the text, in characters and bytes */
    struct found *found;
    size_t count, capacity;
    struct anchor *anchors;
    size_t anchor_count, anchor_capacity;
};

/* ---- reading ---- */

/* libyaml counts characters. */
static size_t byte_at(struct masking *m, size_t rune)
{
    if (rune < m->rune)
        m->rune = m->byte = 0;
    for (; m->rune < rune && m->byte < m->length; m->rune++) {
        do
            m->byte++;
        while (m->byte < m->length &&
               ((unsigned char)m->text[m->byte] & 0xc0) == 0x80);
    }
    return m->byte;
}

static enum scalar_style style_of(const yaml_event_t *event)
{
    switch ((int)event->data.scalar.style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return SCALAR_SINGLE;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return SCALAR_DOUBLE;
    case YAML_LITERAL_SCALAR_STYLE:
    case YAML_FOLDED_SCALAR_STYLE:
        return SCALAR_BLOCK;
    default:
        return SCALAR_PLAIN;
    }
}

static bool is_text(const yaml_event_t *event)
{
    struct conf_cell cell = {0};
    bool is_text;

    conf_resolve_scalar(&cell, (const char *)event->data.scalar.value,
                        event->data.scalar.length,
                        style_of(event) != SCALAR_PLAIN ||
                            event->data.scalar.tag != NULL);
    is_text = cell.node.type == CONF_TEXT;
    free(cell.text);
    return is_text;
}

static void add_found(struct masking *m, const yaml_event_t *event,
                      enum treatment treatment)
{
    size_t start = byte_at(m, event->start_mark.index);

    m->found = mem_grow(m->found, m->count, &m->capacity, sizeof(*m->found));
    m->found[m->count++] = (struct found){
        .start = start,
        .end = byte_at(m, event->end_mark.index),
        .style = style_of(event),
        .treatment = treatment,
    };
}

/* Hides it elsewhere, too, unless it is a short word: `local` may also be the
 * value of a key that must stay readable. A name is part of any scalar. */
static void hide(struct masking *m, const char *name, const char *value)
{
    enum { SHORTEST = 8 };
    bool is_plain = *name != '\0' && text_variable_length(name) == strlen(name);

    if (strlen(value) >= SHORTEST && strstr(value, "${{") == NULL)
        mask_hide(m->mask, is_plain ? name : "secret", value);
}

static void take_scalar(struct masking *m, const yaml_event_t *event,
                        const struct mask_place *place)
{
    const char *value = (const char *)event->data.scalar.value;
    const char *name = place->name != NULL ? place->name : "";
    enum treatment treatment = mask_treat_scalar(place);
    bool is_named = treatment == TREAT_NAMED;

    if (is_named)
        treatment = is_text(event) ? TREAT_SECRET : TREAT_OPEN;
    if (treatment == TREAT_SECRET &&
        (is_named || secret_is_name(name, strlen(name)) ||
         secret_is_value(name, value)))
        hide(m, name, value);
    add_found(m, event, treatment);
}

static void add_anchor(struct masking *m, const yaml_char_t *name, size_t first)
{
    if (name == NULL)
        return;
    m->anchors = mem_grow(m->anchors, m->anchor_count, &m->anchor_capacity,
                          sizeof(*m->anchors));
    m->anchors[m->anchor_count++] =
        (struct anchor){mem_copy_string((const char *)name), first, m->count};
}

static void follow(struct masking *m, const yaml_event_t *event,
                   const struct mask_place *place)
{
    const char *name = (const char *)event->data.alias.anchor;
    size_t i = m->anchor_count;

    if (place->treatment != TREAT_SECRET && place->treatment != TREAT_NAMED)
        return;
    while (i > 0 && strcmp(m->anchors[i - 1].name, name) != 0)
        i--;
    for (size_t k = i > 0 ? m->anchors[i - 1].first : 0;
         i > 0 && k < m->anchors[i - 1].end; k++)
        if (m->found[k].treatment == TREAT_TEXT)
            m->found[k].treatment = TREAT_SECRET;
}

static bool read_node(struct masking *m, const yaml_event_t *event,
                      const struct mask_place *place, int depth);

static bool is_option_value(const yaml_event_t *event)
{
    return event->type == YAML_ALIAS_EVENT ||
           (event->type == YAML_SCALAR_EVENT &&
            *event->data.scalar.value != '-');
}

static bool read_list(struct masking *m, const struct mask_place *place,
                      int depth)
{
    bool is_read = true, is_end = false;
    char *option = NULL;
    yaml_event_t event;

    while (is_read && !is_end && yaml_parser_parse(&m->parser, &event)) {
        struct mask_place item =
            mask_enter_item(place, is_option_value(&event) ? option : NULL);

        is_end = event.type == YAML_SEQUENCE_END_EVENT;
        if (!is_end)
            is_read = read_node(m, &event, &item, depth + 1);
        free(option);
        option = event.type == YAML_SCALAR_EVENT
                     ? mask_copy_option((const char *)event.data.scalar.value)
                     : NULL;
        yaml_event_delete(&event);
    }
    free(option);
    return is_read && is_end;
}

static bool read_item(struct masking *m, const struct mask_place *map,
                      const yaml_event_t *key, int depth)
{
    yaml_event_t event;
    struct mask_place item;
    bool is_read;

    if (key->type != YAML_SCALAR_EVENT ||
        !yaml_parser_parse(&m->parser, &event))
        return false;
    item = mask_enter(map, (const char *)key->data.scalar.value,
                      event.type != YAML_SCALAR_EVENT);
    is_read = read_node(m, &event, &item, depth + 1);
    yaml_event_delete(&event);
    return is_read;
}

static bool read_map(struct masking *m, const struct mask_place *place,
                     int depth)
{
    bool is_read = true, is_end = false;

    while (is_read && !is_end) {
        yaml_event_t key;

        if (!yaml_parser_parse(&m->parser, &key))
            return false;
        is_end = key.type == YAML_MAPPING_END_EVENT;
        if (key.type == YAML_SCALAR_EVENT)
            add_found(m, &key, TREAT_OPEN);
        if (!is_end)
            is_read = read_item(m, place, &key, depth);
        yaml_event_delete(&key);
    }
    return is_read;
}

static bool read_node(struct masking *m, const yaml_event_t *event,
                      const struct mask_place *place, int depth)
{
    size_t first = m->count;
    bool is_read;

    switch ((int)event->type) {
    case YAML_ALIAS_EVENT:
        follow(m, event, place);
        return true;
    case YAML_SCALAR_EVENT:
        take_scalar(m, event, place);
        add_anchor(m, event->data.scalar.anchor, first);
        return true;
    case YAML_SEQUENCE_START_EVENT:
        is_read = depth < CONF_MAX_DEPTH && read_list(m, place, depth);
        add_anchor(m, event->data.sequence_start.anchor, first);
        return is_read;
    case YAML_MAPPING_START_EVENT:
        is_read = depth < CONF_MAX_DEPTH && read_map(m, place, depth);
        add_anchor(m, event->data.mapping_start.anchor, first);
        return is_read;
    default:
        return false;
    }
}

/* False where it is no YAML. */
static bool read_all(struct masking *m, const struct mask_place *root)
{
    bool is_read = true, is_end = false;

    while (is_read && !is_end) {
        yaml_event_t event;

        if (!yaml_parser_parse(&m->parser, &event))
            return false;
        is_end = event.type == YAML_STREAM_END_EVENT;
        if (event.type != YAML_STREAM_START_EVENT &&
            event.type != YAML_DOCUMENT_START_EVENT &&
            event.type != YAML_DOCUMENT_END_EVENT && !is_end)
            is_read = read_node(m, &event, root, 0);
        yaml_event_delete(&event);
    }
    return is_read;
}

/* ---- writing ---- */

static bool write_scalar(const struct masking *m, const struct found *found,
                         struct buf *out)
{
    const struct scalar_source source = {
        m->text + found->start, found->end - found->start, found->style};

    if (found->treatment == TREAT_SECRET)
        return mask_scalar(&source, out);
    if (found->treatment == TREAT_TEXT)
        return mask_in_scalar(m->mask, &source, out);
    buf_add(out, source.text, source.length);
    return false;
}

static size_t write_all(const struct masking *m, struct buf *out)
{
    size_t at = 0, masked = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (m->found[i].start < at)
            continue; /* libyaml puts no two at one place */
        mask_gap(m->mask, m->text + at, m->found[i].start - at, out);
        masked += write_scalar(m, &m->found[i], out);
        at = m->found[i].end;
    }
    mask_gap(m->mask, m->text + at, m->length - at, out);
    return masked;
}

/* As conf_parse() does; what hides a pair has as many characters. */
static bool read_text(struct masking *m, const struct mask_place *root)
{
    struct buf hidden = BUF_INIT;
    const char *text = m->text;
    size_t length = m->length;
    bool is_read;

    if (conf_check_text(text, length, NULL) != 0 ||
        !yaml_parser_initialize(&m->parser))
        return false;
    yaml_parser_set_encoding(&m->parser, YAML_UTF8_ENCODING);
    conf_hide_pairs(&text, &length, &hidden);
    yaml_parser_set_input_string(&m->parser, (const unsigned char *)text,
                                 length);
    is_read = read_all(m, root);
    yaml_parser_delete(&m->parser);
    buf_clear(&hidden);
    return is_read;
}

static size_t mask_text(const char *text, size_t length,
                        const struct mask_place *root, struct buf *out)
{
    struct masking m = {.text = text, .length = length};
    size_t masked;

    m.mask = mask_create();
    if (read_text(&m, root))
        masked = write_all(&m, out);
    else if (root->treatment == TREAT_TEXT)
        masked = mask_lines(text, length, out);
    else
        masked = mask_all((struct piece){text, text + length}, out);
    for (size_t i = 0; i < m.anchor_count; i++)
        free(m.anchors[i].name);
    free(m.anchors);
    free(m.found);
    mask_destroy(m.mask);
    return masked;
}

size_t conf_mask(const struct schema_key *keys, const char *text, size_t length,
                 struct buf *out)
{
    const struct mask_place root = {.keys = keys};
    const char *begin = text;

    text_skip_mark(&text, &length);
    buf_add(out, begin, (size_t)(text - begin));
    return mask_text(text, length, &root, out);
}

size_t conf_mask_value(const struct schema_key *keys, const char *path,
                       const char *value, struct buf *out)
{
    struct mask_place place = {.keys = keys};
    char *copy = mem_copy_string(path), *rest = copy, *part;
    size_t masked;

    while ((part = strsep(&rest, ".")) != NULL)
        place = mask_enter(&place, part, true);
    masked = mask_text(value, strlen(value), &place, out);
    free(copy);
    return masked;
}

size_t conf_mask_assignment(const struct schema_key *keys,
                            const char *assignment, struct buf *out)
{
    const char *value = strchr(assignment, '=');
    char *path;
    size_t masked;

    if (value == NULL) {
        mask_add(NULL, assignment, strlen(assignment), out);
        return 0;
    }
    buf_add(out, assignment, (size_t)(++value - assignment));
    path = mem_copy_bytes(assignment, (size_t)(value - assignment) - 1);
    masked = conf_mask_value(keys, path, value, out);
    free(path);
    return masked;
}
