/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_SCHEMA_IMPL_H
#define SMTUNE_BASE_CONF_SCHEMA_IMPL_H

#include "base/conf/schema.h"

/* What the three walks over a schema share; nobody else includes it. */

/* The key of that name; the shorthand's, for one. NULL: none. */
const struct schema_key *schema_find(const struct schema_key *keys,
                                     const char *name);

/* The key that is meant by one that the map, described by keys, cannot have:
 * what is known as that elsewhere, or a key of that name in a map inside of it
 * ("search.seed", "params.limit"). NULL where there is none, or several. The
 * caller's to free. */
char *schema_guess(const struct schema_key *keys, const struct conf_node *map,
                   const char *word);

/* The choice that is known as that word elsewhere; NULL: none is. */
const char *schema_guess_choice(const struct schema_key *key, const char *word);

/* The words, [*count], that a text may be; none: any text. The list is the
 * caller's to free. */
const char **schema_choices(const struct schema_key *key, size_t *count);

/* Appends "a whole number or 'auto'": what an item may be, in words. */
void schema_describe(const struct schema_key *key, struct buf *out);

#endif
