/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/serve/run_origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/conf/conf.h"
#include "base/conf/diag.h"
#include "base/conf/json.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec_mask.h"

/* A viewer may ask for it often, so the work is bounded: aliases make a short
 * text a large tree. */
enum {
    TEXT_MAX_BYTES = 1 << 20,
    NODES_MAX = 20000,
    KEY_MAX_BYTES = 1 << 10,
    SETTINGS_MAX_BYTES = 4 << 20
};

struct settings {
    json_t *by_key;
    size_t nodes, bytes; /* that may still be read */
    bool is_cut;
};

static bool is_scalar(const struct conf_node *node)
{
    return node->type != CONF_MAP && node->type != CONF_LIST;
}

static bool is_list_of_scalars(const struct conf_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (!is_scalar(node->items[i]))
            return false;
    return true;
}

/* Whether there is room for so much more. */
static bool takes(struct settings *settings, size_t nodes, size_t bytes)
{
    settings->is_cut |= nodes > settings->nodes || bytes > settings->bytes;
    if (settings->is_cut)
        return false;
    settings->nodes -= nodes;
    settings->bytes -= bytes;
    return true;
}

/* Of a scalar, or a list of them. */
static size_t text_bytes(const struct conf_node *node)
{
    size_t bytes = is_scalar(node) ? strlen(node->text) : 0;

    for (size_t i = 0; i < node->count; i++)
        bytes += strlen(node->items[i]->text);
    return bytes;
}

static void add(struct settings *settings, const char *key,
                const struct conf_node *node)
{
    if (takes(settings, 1 + node->count, strlen(key) + text_bytes(node)))
        json_object_set_new(settings->by_key, key, conf_to_json(node));
}

static void add_all(struct settings *settings, struct buf *key,
                    const struct conf_node *node)
{
    size_t length = key->length;

    if (is_scalar(node) || node->count == 0 ||
        (node->type == CONF_LIST && is_list_of_scalars(node))) {
        add(settings, buf_text(key), node);
        return;
    }
    for (size_t i = 0; i < node->count && takes(settings, 1, 0); i++) {
        if (node->type == CONF_LIST)
            buf_printf(key, "[%zu]", i);
        else
            buf_printf(key, "%s%s", length > 0 ? "." : "", node->keys[i]->text);
        if (key->length <= KEY_MAX_BYTES)
            add_all(settings, key, node->items[i]);
        else
            settings->is_cut = true;
        buf_truncate(key, length);
    }
}

/* What --set makes of the text. A word that no longer fits is left out. */
static void apply(struct conf_doc *doc, const char *text, const json_t *words)
{
    const struct schema_key *keys = spec_schema(text);
    struct err ignored;
    json_t *word;
    size_t i;

    json_array_foreach(words, i, word)(void)
        conf_set(doc, keys, json_string_value(word), &ignored);
}

static void add_settings(json_t *json, const struct buf *text,
                         const json_t *words)
{
    struct settings settings = {.nodes = NODES_MAX,
                                .bytes = SETTINGS_MAX_BYTES};
    struct diags *diags = diags_create("");
    struct conf_doc *doc = text->length <= TEXT_MAX_BYTES
                               ? conf_parse(buf_text(text), text->length, diags)
                               : NULL;
    struct buf key = BUF_INIT;

    if (doc != NULL) {
        settings.by_key = json_object();
        apply(doc, buf_text(text), words);
        add_all(&settings, &key, conf_root(doc));
    }
    json_object_set_new(json, "settings",
                        doc != NULL ? settings.by_key : json_null());
    json_object_set_new(json, "is_cut", json_boolean(settings.is_cut));
    buf_clear(&key);
    conf_destroy(doc);
    diags_destroy(diags);
}

/* ---- engines ---- */

enum { ENGINES_MAX = 10, DETAIL_MAX_BYTES = 4 << 20 };

/* Where there are too many, the second one goes. */
static int add_engine(void *user, const struct origin_row *row)
{
    json_t *engines = user;
    json_t *engine = json_parse_up_to(row->detail, strlen(row->detail),
                                      DETAIL_MAX_BYTES, NULL);
    char time[32];

    if (engine == NULL)
        return 0;
    clock_format_iso(row->time_ms, time, sizeof(time));
    json_object_set_new(engine, "time", json_string(time));
    if (json_array_size(engines) == ENGINES_MAX)
        json_array_remove(engines, 1);
    json_array_append_new(engines, engine);
    return 0;
}

json_t *run_origin_to_json(struct store *store, const struct run_row *row,
                           struct err *err)
{
    json_t *engines = json_array();
    const char *spec = run_row_spec(row);
    struct buf text = BUF_INIT, set = BUF_INIT;
    char seed[24]; /* a text: JSON's numbers lose the end of 64 bits */
    json_t *json = json_object(), *words;

    spec_mask_text(spec, &text);
    spec_mask_overrides(spec, run_row_overrides(row), &set);
    words = json_parse(buf_text(&set), set.length, NULL);
    if (words == NULL)
        words = json_array();
    snprintf(seed, sizeof(seed), "%" PRIu64, row->seed);
    json_object_set_new(json, "path", json_text_unless_empty(row->spec_path));
    json_object_set_new(json, "text", json_from_text(buf_text(&text)));
    json_object_set_new(json, "work_directory",
                        json_from_text(row->work_directory));
    json_object_set_new(json, "seed", json_string(seed));
    json_object_set_new(json, "revision",
                        json_text_unless_empty(row->revision));
    add_settings(json, &text, words);
    json_object_set_new(json, "set", words);
    buf_clear(&text);
    buf_clear(&set);
    json_object_set_new(json, "engines", engines);
    if (store_each_origin(store, row->id, add_engine, engines, err) == 0)
        return json;
    json_decref(json);
    return NULL;
}
