/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_MASK_IMPL_H
#define SMTUNE_BASE_CONF_MASK_IMPL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct mask;
struct schema_key;

/* What the files of mask_file.h share; nobody else includes it. */

enum treatment {
    TREAT_TEXT,   /* secrets within it are masked */
    TREAT_NAMED,  /* a value under a secret's name: masked if it is text */
    TREAT_SECRET, /* masked */
    TREAT_OPEN    /* copied */
};

/* What is known of a node from the keys above it. */
struct mask_place {
    const struct schema_key *key;     /* that describes it; NULL: none */
    const struct schema_key *keys;    /* of the map, if it is one */
    const struct schema_key *element; /* of a map of free keys, or of a list */
    enum treatment treatment;
    const char *name; /* of its key */
};

/* The place of a key's item; is_collection: it is a map or a list. */
struct mask_place mask_enter(const struct mask_place *map, const char *name,
                             bool is_collection);
/* A word of a command whose value is the next word: `--token`. The caller's to
 * free; NULL: it is none. */
char *mask_copy_option(const char *word);
/* Of an item of a list; option: of the word before it. */
struct mask_place mask_enter_item(const struct mask_place *list,
                                  const char *option);
/* Of a scalar there, which may be a map in short. */
enum treatment mask_treat_scalar(const struct mask_place *place);

enum scalar_style { SCALAR_PLAIN, SCALAR_SINGLE, SCALAR_DOUBLE, SCALAR_BLOCK };

struct piece {
    const char *at, *end;
};

bool piece_is(const struct piece *piece, const char *word);
void piece_copy(const struct piece *piece, struct buf *out);

/* A scalar as its file has it, with an anchor or a tag before it. */
struct scalar_source {
    const char *text;
    size_t length;
    enum scalar_style style;
};

/* Appends the scalar with its value masked. False: there was nothing to mask,
 * as in an empty one or a template. */
bool mask_scalar(const struct scalar_source *source, struct buf *out);

/* Appends it with the secrets in its text masked. Whether there was any. */
bool mask_in_scalar(const struct mask *mask, const struct scalar_source *source,
                    struct buf *out);

/* Appends each line with its text masked, but for templates. Whether there was
 * anything to mask. */
bool mask_all(struct piece text, struct buf *out);

/* Appends what is between scalars, with the secrets in comments masked. */
void mask_gap(const struct mask *mask, const char *text, size_t length,
              struct buf *out);

/* Appends a text that cannot be read as YAML. How many lines are masked. */
size_t mask_lines(const char *text, size_t length, struct buf *out);

#endif
