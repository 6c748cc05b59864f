/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_TOML_FIND_H
#define SMTUNE_BASE_TOML_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Where a key is in a TOML text, or where it would be; for base/toml/ alone. */

struct toml_span {
    size_t start, end;
};

/* The nearest table that there is, for a key that is missing. */
struct toml_nearest {
    size_t matched;          /* how much of the wanted key leads to it */
    size_t at;               /* where the new key goes */
    struct toml_span prefix; /* the text of its key: of its header, or as the
                                dotted keys around it begin */
    struct toml_span indent; /* the blanks before the line above */
    bool is_implied;         /* by headers of its tables: it has no lines */
    bool is_inline;
    bool is_empty;   /* an inline table without keys */
    bool is_dotted;  /* dotted keys have made it */
    bool is_in_item; /* of an array of tables */
};

struct toml_found {
    bool is_found;
    struct toml_span value;
    struct toml_span cut; /* what goes when it is removed */
    struct toml_nearest nearest;
    bool has_lines; /* before its first header */
};

/* `wanted` is a key of base/toml/toml.h with a dot behind its last part, too.
 * -1 as toml_set. */
int toml_find(const char *text, size_t length, const char *wanted,
              struct toml_found *found, struct err *err);

#endif
