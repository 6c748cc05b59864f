/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups in a map of free keys, parted into one flat map. The nodes of keys and
 * items stay where they are in the file, so a message has their line; only a
 * key in a group is a new node, with the name of the group before its own.
 */
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf_impl.h"
#include "base/mem.h"

struct flattening {
    struct conf_doc *doc;
    bool (*is_group)(const struct conf_node *item);
    struct conf_node *to;
    size_t capacity;
};

static void add(struct flattening *f, struct conf_node *key,
                struct conf_node *item)
{
    size_t wanted = f->to->count + 1;

    if (wanted > f->capacity) {
        f->capacity = 2 * wanted;
        f->to->keys =
            mem_resize(f->to->keys, f->capacity, sizeof(struct conf_node *));
        f->to->items =
            mem_resize(f->to->items, f->capacity, sizeof(struct conf_node *));
    }
    f->to->keys[f->to->count] = key;
    f->to->items[f->to->count++] = item;
}

/* The key with a prefix, in its own place. */
static struct conf_node *join(struct conf_doc *doc, const char *prefix,
                              const struct conf_node *key)
{
    struct conf_cell *cell = conf_add_cell(doc, CONF_TEXT, key->place);
    struct buf text = BUF_INIT;

    buf_printf(&text, "%s.%s", prefix, key->text);
    conf_resolve_scalar(cell, text.data, text.length, true);
    buf_clear(&text);
    return &cell->node;
}

static void flatten(struct flattening *f, const char *prefix,
                    const struct conf_node *map)
{
    for (size_t i = 0; i < map->count; i++) {
        struct conf_node *key = map->keys[i];

        if (prefix != NULL)
            key = join(f->doc, prefix, key);
        if (map->items[i]->type == CONF_MAP && f->is_group(map->items[i]))
            flatten(f, key->text, map->items[i]);
        else
            add(f, key, map->items[i]);
    }
}

static bool has_group(const struct conf_node *map,
                      bool (*is_group)(const struct conf_node *item))
{
    for (size_t i = 0; map != NULL && map->type == CONF_MAP && i < map->count;
         i++)
        if (map->items[i]->type == CONF_MAP && is_group(map->items[i]))
            return true;
    return false;
}

void conf_flatten(struct conf_doc *doc, const char *key,
                  bool (*is_group)(const struct conf_node *item))
{
    struct conf_node *root = doc->root;
    struct flattening f = {.doc = doc, .is_group = is_group};
    const struct conf_node *map = conf_get(root, key);

    if (!has_group(map, is_group))
        return;
    f.to = &conf_add_cell(doc, CONF_MAP, map->place)->node;
    flatten(&f, NULL, map);
    for (size_t i = 0; i < root->count; i++)
        if (root->items[i] == map)
            root->items[i] = f.to;
}
