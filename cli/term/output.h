/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_TERM_OUTPUT_H
#define SMTUNE_CLI_TERM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/value.h"

/* How rows are written (-o). */
enum output_format { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_JSONL, OUTPUT_CSV };

/* What every command is given: the options common to all. */
struct cli {
    const char *store;   /* of --store, or default_store */
    char *default_store; /* that of SMTUNE_STORE, or of the current folder */
    enum output_format output;
    bool colour_out, colour_err; /* may escape codes go there */
    bool out_is_terminal, err_is_terminal;
    bool quiet;
    bool with_secrets;           /* shows them as they are: --with-secrets */
    struct config_files *config; /* NULL: one is wrong, see config_error */
    struct err config_error;
    struct log_setup log;  /* of an engine: SMTUNE_LOG, --log, --log-level */
    int64_t source_date_s; /* of this program's sources, since 1970 */
};

/*
 * Rows to stdout as the user asked (-o): a table whose columns fit what the
 * first rows showed, one JSON array, JSON lines, or CSV (quoted as in RFC 4180,
 * a formula behind an apostrophe; a line ends with a line feed). Rows are
 * written as they come, so that 100,000 of them start at once and take no
 * memory. Cells of a table are cut to the terminal's width only on a terminal.
 *
 * What is not known (null) is "-" in a table, null in JSON, nothing in CSV.
 * NaN and infinities are nan, inf and -inf, in JSON as a text.
 */

enum column_type {
    COLUMN_TEXT,
    COLUMN_NUMBER,   /* right-aligned; reals with 6 significant digits in a
                        table, exact elsewhere */
    COLUMN_TIME,     /* ms since 1970: local "2026-11-21 10:00:00" in a table,
                        ISO UTC elsewhere; 0 is null */
    COLUMN_DURATION, /* ms: "4m 05s" in a table, the number elsewhere */
    COLUMN_BYTES,
    COLUMN_STATE, /* a state's word, coloured on a terminal */
    COLUMN_JSON   /* text that is JSON, and stays so in JSON */
};

struct table_column {
    const char *key;   /* the name in JSON, and in CSV (there "group.key" where
                          another column has the same key) */
    const char *title; /* the heading in a table; NULL: as key */
    enum column_type type;
    const char *group; /* JSON: nested under this key ("params"), or NULL;
                          "values[]": a list of that name, without keys */
};

struct output;

struct output *output_create(const struct cli *cli,
                             const struct table_column *columns, size_t count);
/* What a table says that comes to no rows, in place of its headings; text is
 * borrowed until the end. */
void output_when_empty(struct output *output, const char *text);
/* cells[count]; text is copied if it must be kept. 0, or -1 when stdout is
 * gone (ERR_FAILED; without text when it is a pipe that nobody reads). */
int output_row(struct output *output, const struct value *cells,
               struct err *err);
/* Writes what is left, closes the array. Destroys in every case. */
int output_finish(struct output *output, struct err *err);
void output_destroy(struct output *output);

/* One row as a JSON object; a new reference. */
json_t *output_to_json(const struct table_column *columns,
                       const struct value *cells, size_t count);

/* A document for a program, indented; takes the reference. */
void output_json(json_t *json);

/* One object instead of rows: in a table `key: value` lines, in JSON one
 * object. Same cells and columns. */
int output_object(const struct cli *cli, const struct table_column *columns,
                  const struct value *cells, size_t count, struct err *err);

#endif
