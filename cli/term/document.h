/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_DOCUMENT_H
#define SMTUNE_CLI_TERM_DOCUMENT_H

#include <stddef.h>

#include "base/err.h"
#include "cli/term/output.h"

/*
 * One thing with parts to stdout: fields of its own, fields under a name, and
 * lists of rows under a name. In JSON that is one object; for people each part
 * has its heading; CSV has the thing's own fields alone.
 */
struct document;

struct document *document_create(const struct cli *cli);
void document_destroy(struct document *document);

/* All return 0, or -1 when stdout is gone (as output_row). Columns and cells
 * are only read during the call, but a list's columns until its end. */

/* Fields of the thing itself (name NULL; may be called again), or of a part. */
int document_fields(struct document *document, const char *name,
                    const struct table_column *columns,
                    const struct value *cells, size_t count, struct err *err);
/* The same of the thing itself, but for people only those that are known. */
int document_known_fields(struct document *document,
                          const struct table_column *columns,
                          const struct value *cells, size_t count,
                          struct err *err);
/* A list of rows: begin, its rows, end. */
void document_begin_list(struct document *document, const char *name,
                         const struct table_column *columns, size_t count);
int document_row(struct document *document, const struct value *cells,
                 struct err *err);
int document_end_list(struct document *document, struct err *err);
/* Writes what is left. */
int document_finish(struct document *document, struct err *err);
/* In place of writing, what has come together: of a document that is JSON,
 * which is empty then. A new reference. */
json_t *document_take(struct document *document);

#endif
