/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_MASK_FILE_H
#define SMTUNE_BASE_CONF_MASK_FILE_H

#include <stddef.h>

struct buf;
struct schema_key;

/*
 * Appends the text of a file with its secrets masked, for whoever may see the
 * file and not its secrets. These are the values that `keys` describes as
 * secret, those of free keys with a secret's name, and secrets within texts (a
 * command, a comment), as mask.h finds them. Values become "***"; templates
 * in them stay. Keys, lines and columns before a value stay, and what could be
 * read can be read. A text that cannot be read is masked line by line, and
 * rather too much. Returns how many values are masked.
 */
size_t conf_mask(const struct schema_key *keys, const char *text, size_t length,
                 struct buf *out);

/* The same of a value, as a file may have it, under a path of keys. */
size_t conf_mask_value(const struct schema_key *keys, const char *path,
                       const char *value, struct buf *out);

/* The same of an assignment of --set, KEY=VALUE. */
size_t conf_mask_assignment(const struct schema_key *keys,
                            const char *assignment, struct buf *out);

#endif
