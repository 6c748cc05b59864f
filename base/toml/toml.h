/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_TOML_TOML_H
#define SMTUNE_BASE_TOML_TOML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct buf;

/*
 * Changes one value of a TOML text (1.0, and what 1.1 adds to inline tables and
 * escapes) and leaves all other bytes as they are: comments, order, blanks,
 * line ends.
 *
 * A key is the way to a value, with a dot behind each part: "model.lr". A part
 * may itself have dots where the file has such a key. An item of an array or of
 * an array of tables is its number: "layers.0", "servers.1.port".
 *
 * -1 with ERR_FILE, line and column, and the text as it was: the text is not
 * TOML as far as that decides where values are; the key is a whole table; a
 * part of it is a value that has no keys, or a number of no item; or it is
 * there twice.
 */

/* `value` is TOML itself. A key that is missing is added to its table, and a
 * table that is missing at the end. */
int toml_set(struct buf *text, const char *key, const char *value,
             struct err *err);

/* Without the key and its value, the line of which goes, too. One that is
 * missing is no error. */
int toml_remove(struct buf *text, const char *key, struct err *err);

/* Whether a part of a key needs no quotes. */
bool toml_is_bare(const char *part, size_t length);

/* Appends a text as a basic string, and a part of a key, which is bare where it
 * may be. */
void toml_add_text(const char *text, size_t length, struct buf *out);
void toml_add_part(const char *part, size_t length, struct buf *out);

#endif
