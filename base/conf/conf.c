/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/conf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf_impl.h"
#include "base/conf/schema.h"
#include "base/fs.h"
#include "base/mem.h"

static const struct diag_place no_place = {0, 0, 1};

struct conf_cell *conf_add_cell(struct conf_doc *doc, enum conf_type type,
                                struct diag_place place)
{
    struct conf_cell *cell = mem_zero(sizeof(*cell));

    cell->node.type = type;
    cell->node.place = place;
    cell->expanded = 1;
    doc->cells = mem_grow(doc->cells, doc->count, &doc->capacity,
                          sizeof(struct conf_cell *));
    doc->cells[doc->count++] = cell;
    return cell;
}

struct conf_doc *conf_load(const char *path, struct diags *diags,
                           struct err *err)
{
    struct buf text = BUF_INIT;
    struct conf_doc *doc = NULL;
    struct err why = {0};

    /* what is too long is for conf_check_text to tell */
    if (fs_read(path, CONF_MAX_BYTES, &text, &why) == 0 || why.kind == ERR_FILE)
        doc = conf_parse(buf_text(&text), text.length, diags);
    else if (err != NULL)
        *err = why;
    buf_clear(&text);
    return doc;
}

void conf_destroy(struct conf_doc *doc)
{
    if (doc == NULL)
        return;
    for (size_t i = 0; i < doc->count; i++) {
        struct conf_node *node = &doc->cells[i]->node;

        free(doc->cells[i]->text);
        free(node->keys);
        free(node->items);
        free(doc->cells[i]);
    }
    free(doc->cells);
    free(doc->source);
    free(doc);
}

const struct conf_node *conf_root(const struct conf_doc *doc)
{
    return doc->root;
}

const char *conf_source(const struct conf_doc *doc)
{
    return doc->source;
}

static size_t find_key(const struct conf_node *map, const char *key,
                       size_t length)
{
    size_t i = 0;

    if (map == NULL || map->type != CONF_MAP)
        return SIZE_MAX;
    while (i < map->count && (*map->keys[i]->text != *key ||
                              strncmp(map->keys[i]->text, key, length) != 0 ||
                              map->keys[i]->text[length] != '\0'))
        i++;
    return i < map->count ? i : SIZE_MAX;
}

const struct conf_node *conf_get(const struct conf_node *map, const char *key)
{
    size_t i = find_key(map, key, strlen(key));

    return i != SIZE_MAX ? map->items[i] : NULL;
}

const struct conf_node *conf_get_key(const struct conf_node *map,
                                     const char *key)
{
    size_t i = find_key(map, key, strlen(key));

    return i != SIZE_MAX ? map->keys[i] : NULL;
}

double conf_number(const struct conf_node *node)
{
    if (node->type == CONF_INT)
        return (double)node->integer;
    return node->type == CONF_REAL ? node->real : (double)NAN;
}

const char *conf_type_name(enum conf_type type)
{
    static const char *const names[] = {
        [CONF_NULL] = "nothing",       [CONF_BOOL] = "true or false",
        [CONF_INT] = "a whole number", [CONF_REAL] = "a number",
        [CONF_TEXT] = "text",          [CONF_LIST] = "a list",
        [CONF_MAP] = "a map",
    };

    return names[type];
}

/* VALUE of an assignment, its nodes moved into doc. */
static struct conf_node *read_value(struct conf_doc *doc, const char *text,
                                    struct err *err)
{
    struct diags *diags = diags_create("");
    struct conf_doc *value;
    struct conf_node *root;

    value =
        conf_parse(*text != '\0' ? text : "~", strlen(text) + !*text, diags);
    if (value == NULL) {
        diags_to_err(diags, err);
        diags_destroy(diags);
        return NULL;
    }
    diags_destroy(diags);
    root = value->root;
    for (size_t i = 0; i < value->count; i++) {
        doc->cells = mem_grow(doc->cells, doc->count, &doc->capacity,
                              sizeof(struct conf_cell *));
        doc->cells[doc->count++] = value->cells[i];
        value->cells[i]->node.place = no_place;
    }
    value->count = 0;
    conf_destroy(value);
    return root;
}

/* The part of a path up to a dot; a key of the map that has dots itself wins,
 * the longest of them. */
static size_t path_part(const struct conf_node *map, const char *path)
{
    size_t part = strcspn(path, ".");

    for (size_t i = 0; map != NULL && i < map->count; i++) {
        size_t length = strlen(map->keys[i]->text);

        if (length > part && strncmp(path, map->keys[i]->text, length) == 0 &&
            (path[length] == '.' || path[length] == '\0'))
            part = length;
    }
    return part;
}

/* A copy with room for one more pair: the old one may be an alias's too. */
static struct conf_node *copy_map(struct conf_doc *doc,
                                  const struct conf_node *map)
{
    static const struct conf_node empty = {.type = CONF_MAP};
    struct conf_node *copy;

    map = map != NULL ? map : &empty;
    copy = &conf_add_cell(doc, CONF_MAP, no_place)->node;
    if (map != &empty)
        copy->place = map->place;
    copy->count = map->count;
    copy->keys = mem_array(map->count + 1, sizeof(struct conf_node *));
    copy->items = mem_array(map->count + 1, sizeof(struct conf_node *));
    for (size_t i = 0; i < map->count; i++) {
        copy->keys[i] = map->keys[i];
        copy->items[i] = map->items[i];
    }
    return copy;
}

static struct conf_node **find_slot(struct conf_doc *doc, struct conf_node *map,
                                    const char *key, size_t length)
{
    size_t i = find_key(map, key, length);
    struct conf_cell *new_key;

    if (i != SIZE_MAX)
        return &map->items[i];
    new_key = conf_add_cell(doc, CONF_TEXT, no_place);
    conf_resolve_scalar(new_key, key, length, true);
    map->keys[map->count] = &new_key->node;
    return &map->items[map->count++];
}

/* A path of keys under way: what describes the map that it has come to. */
struct path {
    const char *text, *rest;
    const struct schema_key *keys;    /* the map's; NULL: any */
    const struct schema_key *element; /* of a map with free keys, or NULL */
    const struct schema_key *map;     /* the map itself; NULL: the root */
};

/* Down to the item of a key. */
static void enter(struct path *path, size_t length)
{
    const struct schema_key *key = path->keys;

    while (key != NULL && key->name != NULL &&
           (strlen(key->name) != length ||
            strncmp(key->name, path->rest, length) != 0))
        key++;
    path->map = key != NULL && key->name != NULL ? key : path->element;
    path->keys = path->map != NULL ? path->map->keys : NULL;
    path->element = path->map != NULL ? path->map->element : NULL;
    path->rest += length;
}

/* {shorthand: scalar} for a scalar that stands for this map; NULL: it does
 * not. */
static const struct conf_node *open_scalar(struct conf_doc *doc,
                                           const struct path *path,
                                           struct conf_node *scalar)
{
    static const struct conf_node none = {.type = CONF_MAP};
    struct conf_node *map;

    if (path->map == NULL || path->map->shorthand == NULL ||
        scalar->type == CONF_LIST)
        return NULL;
    map = copy_map(doc, &none);
    map->place = scalar->place;
    *find_slot(doc, map, path->map->shorthand, strlen(path->map->shorthand)) =
        scalar;
    return map;
}

static int refuse_map(const struct path *path, const struct conf_node *node,
                      struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "type mismatch: cannot set '%s': the value before '%s' is "
                   "%s, not a map",
                   path->text, path->rest, conf_type_name(node->type));
}

static const struct schema_key *find_schema_key(const struct schema_key *keys,
                                                const char *name)
{
    while (keys != NULL && keys->name != NULL && strcmp(keys->name, name) != 0)
        keys++;
    return keys != NULL && keys->name != NULL ? keys : NULL;
}

static bool may_be_any_scalar(const struct schema_key *key)
{
    if (key != NULL && key->shorthand != NULL)
        key = find_schema_key(key->keys, key->shorthand);
    return key != NULL && (key->type & SCHEMA_SCALAR) != 0;
}

/* An item that may be any scalar, and that the file has as text, stays text: a
 * version 3.10 is no number. One that it has as a real stays real. */
static void keep_type(const struct path *path, const struct conf_node *old,
                      struct conf_node *value)
{
    bool is_scalar = value->type == CONF_BOOL || value->type == CONF_INT ||
                     value->type == CONF_REAL;

    if (!may_be_any_scalar(path->map) || old == NULL || !is_scalar)
        return;
    if (old->type == CONF_TEXT) {
        value->type = CONF_TEXT;
    } else if (old->type == CONF_REAL && value->type == CONF_INT) {
        value->type = CONF_REAL;
        value->real = (double)value->integer;
    }
}

static int set_path(struct conf_doc *doc, struct path path,
                    struct conf_node *value, struct err *err)
{
    struct conf_node **slot = &doc->root;
    int depth = 0;

    for (;;) {
        const struct conf_node *map = *slot;
        const char *key;
        size_t length;

        if (map != NULL && map->type == CONF_NULL)
            map = NULL;
        if (map != NULL && map->type != CONF_MAP)
            map = open_scalar(doc, &path, *slot);
        if (map == NULL && *slot != NULL && (*slot)->type != CONF_NULL)
            return refuse_map(&path, *slot, err);
        length = path_part(map, path.rest);
        if (length == 0 || ++depth > CONF_MAX_DEPTH / 2)
            return err_set(err, ERR_USAGE, "'%s' is not a path of keys",
                           path.text);
        key = path.rest;
        enter(&path, length);
        *slot = copy_map(doc, map);
        slot = find_slot(doc, *slot, key, length);
        if (*path.rest == '\0')
            break;
        path.rest++;
    }
    keep_type(&path, *slot, value);
    *slot = value;
    return 0;
}

int conf_set(struct conf_doc *doc, const struct schema_key *keys,
             const char *assignment, struct err *err)
{
    const char *equals = strchr(assignment, '=');
    struct conf_node *value;
    char *path;
    int rc;

    if (equals == NULL || equals == assignment)
        return err_set(err, ERR_USAGE, "'%s': expected KEY=VALUE", assignment);
    path = mem_copy_bytes(assignment, (size_t)(equals - assignment));
    value = read_value(doc, equals + 1, err);
    if (value == NULL)
        rc = err_set(err, ERR_USAGE, "cannot set '%s': %s", path,
                     err != NULL ? err->text : "");
    else
        rc = set_path(doc,
                      (struct path){.text = path, .rest = path, .keys = keys},
                      value, err);
    free(path);
    return rc;
}

static bool can_merge(const struct conf_node *over,
                      const struct conf_node *under)
{
    return over->type == CONF_MAP && under != NULL && under->type == CONF_MAP &&
           under->count > 0;
}

static struct conf_node *merge(struct conf_doc *doc,
                               const struct conf_node *over,
                               const struct conf_node *under)
{
    size_t room = over->count + under->count;
    struct conf_node *both = &conf_add_cell(doc, CONF_MAP, over->place)->node;

    both->keys = mem_array(room, sizeof(struct conf_node *));
    both->items = mem_array(room, sizeof(struct conf_node *));
    both->count = over->count;
    for (size_t i = 0; i < over->count; i++) {
        const struct conf_node *other = conf_get(under, over->keys[i]->text);

        both->keys[i] = over->keys[i];
        both->items[i] = over->items[i];
        if (can_merge(over->items[i], other))
            both->items[i] = merge(doc, over->items[i], other);
    }
    for (size_t i = 0; i < under->count; i++) {
        if (conf_get(over, under->keys[i]->text) != NULL)
            continue;
        both->keys[both->count] = under->keys[i];
        both->items[both->count++] = under->items[i];
    }
    return both;
}

const struct conf_node *conf_merge(struct conf_doc *doc,
                                   const struct conf_node *over,
                                   const struct conf_node *under)
{
    return can_merge(over, under) ? merge(doc, over, under) : over;
}
