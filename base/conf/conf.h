/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_CONF_H
#define SMTUNE_BASE_CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf/diag.h"

/*
 * YAML read by libyaml into nodes that know where they stand. Plain scalars
 * follow YAML 1.2's core schema (so `no` and `1:30` are text, 0o17 is a
 * number). Refused, each with its place: duplicate keys (both places named),
 * more than one document, an empty one, depth over 64, more than 32 MiB, more
 * than 4,000,000 nodes with aliases expanded, more than 100,000 scalars in one
 * list, merge keys (`<<`), custom tags, keys that are not scalars, bytes that
 * are not UTF-8 text. A byte order mark is skipped. A conf_doc owns all its
 * nodes; a node of an alias is shared.
 */

enum conf_type {
    CONF_NULL,
    CONF_BOOL,
    CONF_INT,
    CONF_REAL,
    CONF_TEXT,
    CONF_LIST,
    CONF_MAP
};

enum {
    CONF_MAX_BYTES = 32 << 20,
    CONF_MAX_DEPTH = 64,
    CONF_MAX_NODES = 4000000,
    CONF_MAX_SCALARS = 100000 /* of one list; its lists and maps do not count */
};

struct conf_node {
    enum conf_type type;
    struct diag_place place; /* where the node starts */
    bool quoted;             /* a scalar in quotes or a block scalar */
    const char *text;        /* scalars: as written, without the quotes */
    union {
        bool boolean;
        int64_t integer;
        double real;
    };
    size_t count;             /* list: items; map: pairs */
    struct conf_node **keys;  /* map: [count] scalar nodes */
    struct conf_node **items; /* list and map: [count] */
};

struct conf_doc;

/* NULL when anything is wrong; then diags says what (and where). */
struct conf_doc *conf_parse(const char *text, size_t length,
                            struct diags *diags);
/* The same for a file that is not smtune's, such as a program's configuration:
 * its lists are as long as the limit on nodes allows. */
struct conf_doc *conf_parse_tree(const char *text, size_t length,
                                 struct diags *diags);
/* As conf_parse for a file; "-" is standard input. ERR_NOT_FOUND etc. in err
 * when it cannot be read, with diags untouched. */
struct conf_doc *conf_load(const char *path, struct diags *diags,
                           struct err *err);
void conf_destroy(struct conf_doc *doc);
const struct conf_node *conf_root(const struct conf_doc *doc);
/* The file's bytes. */
const char *conf_source(const struct conf_doc *doc);

/* Whether a text's document is a map with that key; what cannot be read so far
 * has none. Ends at the key, so that it costs little where this comes early. */
bool conf_has_key(const char *text, size_t length, const char *key);

/* The item of that key, or NULL (also where map is NULL or no map). */
const struct conf_node *conf_get(const struct conf_node *map, const char *key);
/* The key's own node, for messages about the key. */
const struct conf_node *conf_get_key(const struct conf_node *map,
                                     const char *key);

/*
 * Where in the file the character `column` of line `line` (both 1-based, the
 * column may run on into later lines) of a scalar's text stands. Where quotes
 * and folding hide that, the scalar's own place.
 */
struct diag_place conf_place_in(const struct conf_doc *doc,
                                const struct conf_node *scalar, int line,
                                int column);
/* The same for a place in the scalar's text. */
struct diag_place conf_place_at(const struct conf_doc *doc,
                                const struct conf_node *scalar, const char *at);

/* Int or real as double; NaN for the others. */
double conf_number(const struct conf_node *node);
/* "a map", "a list", "text", ...: for messages. */
const char *conf_type_name(enum conf_type type);

struct schema_key; /* base/conf/schema.h */

/*
 * Replaces one item before the file is checked (`--set a.b.c=VALUE`): makes
 * missing maps on the way; VALUE is read as YAML. What is set has no place in
 * the file (line 0). `keys` describes the file: where it has a scalar in place
 * of a map, as `search: random`, that scalar becomes an item of the map; where
 * an item may be any scalar and is text in the file, it stays text. NULL:
 * nothing is known of the file. -1 with ERR_USAGE.
 */
int conf_set(struct conf_doc *doc, const struct schema_key *keys,
             const char *assignment, struct err *err);

/*
 * Flattens the item of a key of the root, a map of free keys: an item of it
 * that is_group accepts, a map, is replaced by its own items, with its key and
 * a dot before their keys, and so on below. {a: {b: x}} becomes {a.b: x}.
 */
void conf_flatten(struct conf_doc *doc, const char *key,
                  bool (*is_group)(const struct conf_node *item));

/* Whether both hold the same, however it is written: 1e-3 and 0.001, with
 * quotes or without. 1 and 1.0 differ, and so do maps whose keys come in
 * another order. NULL is the same as NULL alone. */
bool conf_is_same(const struct conf_node *a, const struct conf_node *b);

/* A map with the pairs of both, those of `over` where both have a key; where
 * both have maps there, these are merged in the same way. `over` itself where
 * nothing is added, or one of the two is no map. */
const struct conf_node *conf_merge(struct conf_doc *doc,
                                   const struct conf_node *over,
                                   const struct conf_node *under);

#endif
