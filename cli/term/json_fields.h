/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_JSON_FIELDS_H
#define SMTUNE_CLI_TERM_JSON_FIELDS_H

#include "base/err.h"
#include "base/json.h"
#include "cli/term/document.h"

/* Adds an object of the record as a part of a document: a field for each of its
 * keys. What is a list or an object stays one in JSON, and is JSON for people.
 * written: by key, numbers as people see them, in the form that they were
 * written; NULL: none. Nothing where it is empty or no object. 0, or -1. */
int json_fields_add(struct document *document, const char *name,
                    const json_t *object, const json_t *written,
                    struct err *err);

#endif
