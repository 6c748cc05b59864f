/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/conf/diag.h"
#include "base/conf/mask_file.h"
#include "base/conf/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The YAML reader, and the mask of a file: text gives a tree whose nodes all
 * have a place and are within the bounds promised, or messages that can be
 * shown; never both.
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

static size_t lines_of(const char *text, size_t size)
{
    size_t lines = 0;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

/* All values are secrets. What could be read still can be. */
static void mask(const char *text, size_t size, bool is_yaml)
{
    static const struct schema_key keys[] = {
        {.name = "env", .secrecy = SECRECY_SECRET}, {.name = NULL}};
    struct diags *diags = diags_create("masked.yaml");
    struct buf masked = BUF_INIT;
    struct conf_doc *doc;

    conf_mask(keys, text, size, &masked);
    if (is_yaml) {
        doc = conf_parse(buf_text(&masked), masked.length, diags);
        assert(doc != NULL);
        conf_destroy(doc);
        assert(lines_of(text, size) ==
               lines_of(buf_text(&masked), masked.length));
    }
    buf_clear(&masked);
    diags_destroy(diags);
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
    mask((const char *)data, size, doc != NULL);
    conf_destroy(doc);
    diags_destroy(diags);
    return 0;
}
