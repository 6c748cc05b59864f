/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/conf/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The YAML reader: text gives a tree whose nodes all have a place and are
 * within the bounds promised, or messages that can be shown; never both.
 */

static size_t walk(const struct conf_node *node, int depth)
{
    size_t nodes = 1;

    assert(depth <= CONF_MAX_DEPTH + 1);
    assert(node->place.line >= 1 && node->place.column >= 1);
    for (size_t i = 0; i < node->count; i++) {
        if (node->type == CONF_MAP) {
            const struct conf_node *key = node->keys[i];

            assert(key->text != NULL);
            assert(conf_get(node, key->text) == node->items[i]);
            nodes++;
        }
        nodes += walk(node->items[i], depth + 1);
    }
    assert(nodes <= CONF_MAX_NODES);
    return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags *diags = diags_create("fuzz.yaml");
    struct conf_doc *doc = conf_parse((const char *)data, size, diags);
    struct buf shown = BUF_INIT;

    assert((doc == NULL) == (diags_count(diags) > 0));
    if (doc != NULL)
        walk(conf_root(doc), 1);
    diags_render(diags, size % 2 == 0, &shown);
    buf_clear(&shown);
    conf_destroy(doc);
    diags_destroy(diags);
    return 0;
}
