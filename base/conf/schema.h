/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_SCHEMA_H
#define SMTUNE_BASE_CONF_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct conf_node;
struct diags;

/*
 * One const table says what a file may hold; validation, the JSON Schema for
 * editors and the manual page's text are three walks over the same table.
 */

/* What a key's item may be; several bits mean alternatives. */
enum schema_type {
    SCHEMA_BOOL = 1 << 0,
    SCHEMA_INT = 1 << 1,       /* within min..max */
    SCHEMA_NUMBER = 1 << 2,    /* int or real, within min..max */
    SCHEMA_TEXT = 1 << 3,      /* `choices` or `names` may narrow it */
    SCHEMA_DURATION = 1 << 4,  /* 90, 10m, 2h: see units.h */
    SCHEMA_BYTES = 1 << 5,     /* 512M, 1G */
    SCHEMA_SCALAR = 1 << 6,    /* any scalar but null */
    SCHEMA_MAP = 1 << 7,       /* of `keys`, or free keys of `element` */
    SCHEMA_LIST = 1 << 8,      /* of `element` */
    SCHEMA_AUTO = 1 << 9,      /* the word auto, beside the others */
    SCHEMA_NULL = 1 << 10,     /* the key alone, without a value */
    SCHEMA_ANY_LIST = 1 << 11, /* a list; whoever reads it checks its items */
    SCHEMA_ANY_MAP = 1 << 12   /* a map; likewise */
};

/* Which values of a key are masked where a file is shown (mask_file.h). */
enum schema_secrecy {
    SECRECY_BY_NAME, /* those of free keys whose name is a secret's */
    SECRECY_SECRET,  /* all */
    SECRECY_OPEN     /* none, whatever the keys in it are called */
};

struct schema_key {
    const char *name;     /* NULL ends a table */
    const char *known_as; /* what other tools call it, between blanks: who
                             writes that is told the name; or NULL */
    unsigned type;        /* schema_type bits */
    bool required;
    double min, max;            /* both 0: no limits; in seconds, bytes; min of
                                   a text: it is not empty */
    const char *const *choices; /* NULL-ended; NULL: any */
    const char *const *choices_known_as; /* known_as of each choice, NULL: of
                                            none; or NULL */
    const char *const *(*names)(void);   /* choices too, from another part */
    const struct schema_key *keys;       /* SCHEMA_MAP: the keys it may have */
    const struct schema_key *element;    /* SCHEMA_LIST, and maps of free keys;
                                            its name is a noun for messages */
    const char *shorthand; /* what is no map stands for {shorthand: it} */
    bool nests;            /* an element of free keys that may be in maps of its
                              own kind; conf_flatten() has to part these */
    enum schema_secrecy secrecy;
    const char *doc;      /* one or two sentences, for manual and editor */
    const char *fallback; /* what holds when left out, in words; or NULL */
    const char *example;  /* one YAML flow value, or NULL */
    const char *told_in;  /* the manual has the keys inside of this one there
                             already; or NULL */
};

/*
 * Checks node against the map described by keys: unknown keys (nearest name),
 * missing ones, wrong types, numbers out of range, words not among choices.
 * `what` names the map in messages ("parameter 'lr'"; NULL: the file's top
 * level). 0 when all is well, else -1 with the messages in diags.
 */
int schema_check(const struct schema_key *keys, const struct conf_node *node,
                 const char *what, struct diags *diags);

/* What a key is called in messages, in the map that `what` names: "'trial'" and
 * "env" give "'trial.env'"; "parameter 'lr'" and "min" give "'min' in parameter
 * 'lr'". The caller's to free. */
char *schema_label(const char *what, const char *name);

/* Checks one node as the item of a key; `label` names it ("'budget.time'"). */
int schema_check_item(const struct schema_key *key,
                      const struct conf_node *node, const char *label,
                      struct diags *diags);

/* Appends a JSON Schema (draft-07) for a file described by keys. */
void schema_print_json(const struct schema_key *keys, const char *title,
                       struct buf *out);

/* Appends the keys as roff, for a man(5) page's body. */
void schema_print_roff(const struct schema_key *keys, struct buf *out);

#endif
