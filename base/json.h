/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_JSON_H
#define SMTUNE_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct buf;
struct value;

/* What jansson leaves open. A json_t * returned is a new reference. */

/* NaN and infinities, which JSON lacks, become null. Text that is not UTF-8
 * has its bad bytes escaped. */
json_t *json_from_value(const struct value *value);
json_t *json_from_real(double real);
/* The same, but they become the words of value_format_real, so that nothing is
 * lost; and back. What is neither number nor text is NaN. */
json_t *json_from_any_real(double real);
/* A metric's number: as json_from_any_real, but an integer where it is whole
 * and exact, because the text that it was read from is not known any more. */
json_t *json_from_metric(double real);
double json_to_real(const json_t *json);
/* The other way; a text is the JSON's, and null what is neither number, text
 * nor bool. */
struct value json_to_value(const json_t *json);
json_t *json_from_text(const char *text); /* NULL gives null */
/* Null where it is `none`; or is "", or NULL. */
json_t *json_int_unless(int64_t integer, int64_t none);
json_t *json_text_unless_empty(const char *text);
/* The texts of a list, [*count], borrowed; NULL has none, and NULL stands for
 * what is no text. The caller frees the array. */
const char **json_texts(const json_t *list, size_t *count);

/* Appends one compact line without a newline; key order is kept. The record,
 * keys of the cache and comparisons with both need the same text of every
 * version of smtune. */
void json_print(const json_t *json, struct buf *out);
/* Appends indented text with a final newline. */
void json_print_pretty(const json_t *json, struct buf *out);
/* The same two for standard output: what a terminal would obey is escaped, and
 * the JSON is the same. */
void json_show(const json_t *json, struct buf *out);
void json_show_pretty(const json_t *json, struct buf *out);

/* Parses one JSON text (at most 1 MiB, depth 64); NULL with line and column. */
json_t *json_parse(const char *text, size_t length, struct err *err);
/* The same with another bound, for what may be long. */
json_t *json_parse_up_to(const char *text, size_t length, size_t max_bytes,
                         struct err *err);

#endif
