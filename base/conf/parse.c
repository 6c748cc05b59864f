/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/buf.h"
#include "base/conf/conf_impl.h"
#include "base/mem.h"
#include "base/text.h"

/*
 * libyaml's events, turned into nodes by recursive descent. libyaml itself
 * knows no limit of depth and takes quadratic time in it, so each limit is
 * checked as the events come and reading ends at the first that is broken.
 * What leaves the structure clear (a key twice) is noted and reading goes on.
 */

enum { ANCHORS_MAX = 1000 };

struct anchor {
    char *name;
    struct conf_cell *cell;
};

struct reader {
    yaml_parser_t parser;
    struct conf_doc *doc;
    struct diags *diags;
    bool failed;
    bool hides_pairs;   /* the text that libyaml reads */
    size_t scalars_max; /* of one list */
    size_t expanded;
    struct anchor *anchors;
    size_t anchor_count, anchor_capacity;
};

static struct diag_place place_of(const yaml_event_t *event)
{
    yaml_mark_t start = event->start_mark, end = event->end_mark;
    struct diag_place place = {(int)start.line + 1, (int)start.column + 1, 1};

    if (event->type == YAML_SCALAR_EVENT && start.line == end.line &&
        end.column > start.column)
        place.length = (int)(end.column - start.column);
    return place;
}

static const struct diag_place whole_file = {0, 0, 1};

static int no_memory(struct diags *diags)
{
    return diags_add(diags, whole_file, NULL,
                     "out of memory while reading this");
}

static int next_event(struct reader *r, yaml_event_t *event)
{
    const yaml_parser_t *parser = &r->parser;
    struct diag_place place;
    int begun = 0;

    if (yaml_parser_parse(&r->parser, event))
        return 0;
    memset(event, 0, sizeof(*event));
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(r->diags);
    place = (struct diag_place){(int)parser->problem_mark.line + 1,
                                (int)parser->problem_mark.column + 1, 1};
    if (parser->context != NULL)
        begun = (int)parser->context_mark.line + 1;
    return conf_add_problem(r->doc, parser->problem, begun, place, r->diags);
}

static int count_nodes(struct reader *r, size_t nodes, struct diag_place place)
{
    r->expanded += nodes;
    if (r->expanded > CONF_MAX_NODES)
        return diags_add(r->diags, place, NULL,
                         "the file has more than %d nodes, those behind "
                         "aliases counted each time",
                         CONF_MAX_NODES);
    return 0;
}

static int check_depth(struct reader *r, int depth, struct diag_place place)
{
    if (depth <= CONF_MAX_DEPTH)
        return 0;
    return diags_add(r->diags, place, NULL,
                     "lists and maps are nested more than %d deep",
                     CONF_MAX_DEPTH);
}

static int add_anchor(struct reader *r, const yaml_char_t *name,
                      struct conf_cell *cell)
{
    if (name == NULL)
        return 0;
    if (r->anchor_count == ANCHORS_MAX)
        return diags_add(r->diags, cell->node.place, NULL,
                         "the file has more than %d anchors", ANCHORS_MAX);
    r->anchors = mem_grow(r->anchors, r->anchor_count, &r->anchor_capacity,
                          sizeof(*r->anchors));
    r->anchors[r->anchor_count++] =
        (struct anchor){mem_copy_string((const char *)name), cell};
    return 0;
}

static struct conf_cell *read_alias(struct reader *r, const yaml_event_t *event,
                                    int depth)
{
    const char *name = (const char *)event->data.alias.anchor;
    struct diag_place place = place_of(event);
    const char *names[ANCHORS_MAX];

    for (size_t i = r->anchor_count; i-- > 0;) {
        struct conf_cell *cell = r->anchors[i].cell;

        names[i] = r->anchors[i].name;
        if (strcmp(names[i], name) != 0)
            continue;
        if (!cell->complete) {
            diags_add(r->diags, place, NULL,
                      "alias '*%s' is inside its own anchor", name);
            return NULL;
        }
        if (check_depth(r, depth + cell->height, place) != 0 ||
            count_nodes(r, cell->expanded, place) != 0)
            return NULL;
        return cell;
    }
    diags_add_unknown(r->diags, place, name, names, r->anchor_count,
                      "unknown anchor '&%s': define it before this alias",
                      name);
    return NULL;
}

static struct conf_cell *begin_cell(struct reader *r, enum conf_type type,
                                    const yaml_event_t *event,
                                    const yaml_char_t *anchor)
{
    struct diag_place place = place_of(event);
    struct conf_cell *cell = conf_add_cell(r->doc, type, place);

    if (count_nodes(r, 1, place) != 0 || add_anchor(r, anchor, cell) != 0)
        return NULL;
    return cell;
}

static int check_tag(struct reader *r, const yaml_event_t *event,
                     const yaml_char_t *tag, const char *allowed)
{
    const char *text = (const char *)tag;

    if (tag == NULL || strcmp(text, "!") == 0 || strcmp(text, allowed) == 0)
        return 0;
    return diags_add(r->diags, place_of(event), NULL,
                     "tags such as '%s' are not supported", text);
}

static void resolve_scalar(const struct reader *r, const yaml_event_t *event,
                           struct conf_cell *cell)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    yaml_scalar_style_t style = event->data.scalar.style;
    bool is_text =
        style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag != NULL;
    struct buf shown = BUF_INIT;

    if (r->hides_pairs) {
        conf_show_pairs(text, length, style == YAML_DOUBLE_QUOTED_SCALAR_STYLE,
                        &shown);
        text = buf_text(&shown);
        length = shown.length;
    }
    conf_resolve_scalar(cell, text, length, is_text);
    buf_clear(&shown);
}

static struct conf_cell *read_scalar(struct reader *r,
                                     const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    struct conf_cell *cell;

    if (check_tag(r, event, event->data.scalar.tag, YAML_STR_TAG) != 0)
        return NULL;
    if (memchr(text, '\0', length) != NULL) {
        diags_add(r->diags, place_of(event), NULL,
                  "text contains a NUL character");
        return NULL;
    }
    cell = begin_cell(r, CONF_TEXT, event, event->data.scalar.anchor);
    if (cell == NULL)
        return NULL;
    cell->node.quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    resolve_scalar(r, event, cell);
    cell->complete = true;
    return cell;
}

static struct conf_cell *read_node(struct reader *r, const yaml_event_t *event,
                                   int depth);

/* The next node, or *end where the collection ends. */
static struct conf_cell *read_next(struct reader *r, yaml_event_type_t last,
                                   int depth, bool *end)
{
    struct conf_cell *cell = NULL;
    yaml_event_t event;

    *end = false;
    if (next_event(r, &event) != 0)
        return NULL;
    if (event.type == last)
        *end = true;
    else
        cell = read_node(r, &event, depth);
    yaml_event_delete(&event);
    return cell;
}

static void take_in(struct conf_cell *parent, const struct conf_cell *child)
{
    parent->expanded += child->expanded;
    if (parent->height <= child->height)
        parent->height = child->height + 1;
}

static bool is_scalar(const struct conf_node *node)
{
    return node->type != CONF_LIST && node->type != CONF_MAP;
}

/* Millions of values would be read for seconds, and no search uses them. */
static int check_scalars(struct reader *r, size_t count,
                         const struct conf_node *last)
{
    if (count <= r->scalars_max)
        return 0;
    return diags_add(r->diags, last->place, NULL,
                     "the list has more than %zu values", r->scalars_max);
}

static struct conf_cell *read_list(struct reader *r, const yaml_event_t *start,
                                   int depth)
{
    size_t capacity = 0, scalars = 0;
    struct conf_cell *cell, *item;
    struct conf_node *node;
    bool end;

    if (check_tag(r, start, start->data.sequence_start.tag, YAML_SEQ_TAG) != 0)
        return NULL;
    cell = begin_cell(r, CONF_LIST, start, start->data.sequence_start.anchor);
    if (cell == NULL)
        return NULL;
    node = &cell->node;
    while ((item = read_next(r, YAML_SEQUENCE_END_EVENT, depth + 1, &end))) {
        scalars += is_scalar(&item->node);
        if (check_scalars(r, scalars, &item->node) != 0)
            return NULL;
        node->items = mem_grow(node->items, node->count, &capacity,
                               sizeof(struct conf_node *));
        node->items[node->count++] = &item->node;
        take_in(cell, item);
    }
    cell->complete = end;
    return end ? cell : NULL;
}

static int check_key(struct reader *r, const struct conf_node *key)
{
    if (!is_scalar(key))
        return diags_add(r->diags, key->place, NULL,
                         "type mismatch: a key must be a word, not %s",
                         conf_type_name(key->type));
    if (strcmp(key->text, "<<") == 0 && !key->quoted)
        return diags_add(r->diags, key->place,
                         "write the keys out, or use an alias for a whole map",
                         "merge keys ('<<') are not supported");
    return 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct conf_node *left = *(struct conf_node *const *)a;
    const struct conf_node *right = *(struct conf_node *const *)b;
    int order = strcmp(left->text, right->text);

    if (order == 0)
        order = left->place.line - right->place.line;
    return order != 0 ? order : left->place.column - right->place.column;
}

static void find_duplicates(struct reader *r, const struct conf_node *map)
{
    struct conf_node **sorted;

    if (map->count < 2)
        return;
    sorted = mem_array(map->count, sizeof(struct conf_node *));
    memcpy(sorted, map->keys, map->count * sizeof(struct conf_node *));
    qsort(sorted, map->count, sizeof(struct conf_node *), compare_keys);
    for (size_t i = 1; i < map->count; i++) {
        struct diag_place first = sorted[i - 1]->place;

        if (strcmp(sorted[i]->text, sorted[i - 1]->text) != 0)
            continue;
        r->failed = true;
        diags_add(r->diags, sorted[i]->place, NULL,
                  "duplicate key '%s' (first defined at line %d, column %d)",
                  sorted[i]->text, first.line, first.column);
    }
    free(sorted);
}

static struct conf_cell *read_map(struct reader *r, const yaml_event_t *start,
                                  int depth)
{
    size_t keys_capacity = 0, items_capacity = 0;
    struct conf_cell *cell, *key, *item;
    struct conf_node *node;
    bool end;

    if (check_tag(r, start, start->data.mapping_start.tag, YAML_MAP_TAG) != 0)
        return NULL;
    cell = begin_cell(r, CONF_MAP, start, start->data.mapping_start.anchor);
    if (cell == NULL)
        return NULL;
    node = &cell->node;
    while ((key = read_next(r, YAML_MAPPING_END_EVENT, depth + 1, &end))) {
        if (check_key(r, &key->node) != 0)
            return NULL;
        item = read_next(r, YAML_MAPPING_END_EVENT, depth + 1, &end);
        if (item == NULL)
            return NULL;
        node->keys = mem_grow(node->keys, node->count, &keys_capacity,
                              sizeof(struct conf_node *));
        node->items = mem_grow(node->items, node->count, &items_capacity,
                               sizeof(struct conf_node *));
        node->keys[node->count] = &key->node;
        node->items[node->count++] = &item->node;
        take_in(cell, item);
    }
    if (!end)
        return NULL;
    find_duplicates(r, node);
    cell->complete = true;
    return cell;
}

static struct conf_cell *read_node(struct reader *r, const yaml_event_t *event,
                                   int depth)
{
    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(r, event, depth);
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(r, event);
    if (check_depth(r, depth, place_of(event)) != 0)
        return NULL;
    /* libyaml gives no other event where a node is due */
    return event->type == YAML_SEQUENCE_START_EVENT ? read_list(r, event, depth)
                                                    : read_map(r, event, depth);
}

static int read_top_event(struct reader *r, const yaml_event_t *event)
{
    struct conf_cell *cell;

    switch ((int)event->type) {
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return 0;
    case YAML_DOCUMENT_START_EVENT:
        if (r->doc->root == NULL)
            return 0;
        return diags_add(
            r->diags, place_of(event), NULL,
            "a second document starts here, but a file has only one");
    case YAML_STREAM_END_EVENT:
        if (r->doc->root != NULL)
            return 0;
        return diags_add(r->diags, whole_file, NULL, "the file is empty");
    default:
        cell = read_node(r, event, 1);
        r->doc->root = cell != NULL ? &cell->node : NULL;
        return cell != NULL ? 0 : -1;
    }
}

static int read_file(struct reader *r)
{
    bool end = false;
    int rc = 0;

    while (rc == 0 && !end) {
        yaml_event_t event;

        if (next_event(r, &event) != 0)
            return -1;
        rc = read_top_event(r, &event);
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return r->failed ? -1 : rc;
}

static struct conf_doc *parse(const char *text, size_t length,
                              size_t scalars_max, struct diags *diags)
{
    struct reader r = {.diags = diags, .scalars_max = scalars_max};
    struct buf hidden = BUF_INIT;
    int rc;

    text_skip_mark(&text, &length);
    diags_set_source(diags, text, length);
    if (conf_check_text(text, length, diags) != 0)
        return NULL;
    r.doc = mem_zero(sizeof(*r.doc));
    r.doc->source = mem_copy_bytes(text, length);
    r.doc->length = length;
    if (!yaml_parser_initialize(&r.parser)) {
        no_memory(diags);
        conf_destroy(r.doc);
        return NULL;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    r.hides_pairs = conf_hide_pairs(&text, &length, &hidden);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text,
                                 length);
    rc = read_file(&r);
    yaml_parser_delete(&r.parser);
    buf_clear(&hidden);
    for (size_t i = 0; i < r.anchor_count; i++)
        free(r.anchors[i].name);
    free(r.anchors);
    if (rc == 0)
        return r.doc;
    conf_destroy(r.doc);
    return NULL;
}

struct conf_doc *conf_parse(const char *text, size_t length,
                            struct diags *diags)
{
    return parse(text, length, CONF_MAX_SCALARS, diags);
}

struct conf_doc *conf_parse_tree(const char *text, size_t length,
                                 struct diags *diags)
{
    return parse(text, length, CONF_MAX_NODES, diags);
}
