/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_MATRIX_H
#define SMTUNE_WORKFLOWS_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"

/*
 * The copies of a step: all settings of its axes, in an order that is always
 * the same, the last axis fastest. What an axis holds when the step begins is
 * kept as JSON, {"part": [0, 1, 2], "file": ["a.csv", "b.csv"]}, and goes into
 * the record, so that files that come and go change nothing.
 */

enum {
    MATRIX_COPIES_MAX = 1000000,
    MATRIX_BYTES_MAX = 64 << 20 /* of an axis, or of all, as text */
};

struct matrix;

/* From that JSON, which is borrowed during the call; NULL JSON: one copy, no
 * axes. An empty axis makes no copies. NULL with ERR_FILE where it is of
 * another form, or too large. */
struct matrix *matrix_create(const json_t *axes, struct err *err);
void matrix_destroy(struct matrix *matrix);
int64_t matrix_copies(const struct matrix *matrix);
size_t matrix_axis_count(const struct matrix *matrix);
/* values[axis_count] of a copy; text lives as long as the matrix. */
void matrix_values(const struct matrix *matrix, int64_t copy,
                   struct value *values);

/*
 * The values of one axis, as JSON, for the caller to release: from the text of
 * a JSON list of numbers, texts and booleans, where null, which stands for a
 * copy that gave nothing, is left out; and the paths that match a pattern
 * (glob(7)), by their bytes, maybe none. NULL with ERR_FILE where that is
 * something else, or too much.
 */
json_t *matrix_axis_from_text(const char *text, struct err *err);
json_t *matrix_axis_from_glob(const char *pattern, struct err *err);
/*
 * The lines of a file, in their order, each a text, without the CR and LF at
 * its end; blank ones and a byte order mark before all are left out. Of a file
 * whose name ends in .jsonl each is a JSON value: a text, a number, a boolean,
 * or an object, which becomes its text. NULL where a line is something else, or
 * the file cannot be read (ERR_NOT_FOUND: it is not there). The same of a text
 * of such lines.
 */
json_t *matrix_axis_from_lines(const char *path, struct err *err);
json_t *matrix_axis_from_line_text(const char *text, size_t length,
                                   bool is_json, struct err *err);
/* Whether a text, whose path that is, is such a pattern: unless there is a file
 * of that name. */
bool matrix_is_pattern(const char *text, const char *path);

/* Which of `count` things, in their order, belong to a copy: those whose index
 * leaves it as the rest of the division by `copies`, as SageMaker's
 * ShardedByS3Key has it. */
static inline int64_t matrix_shard(int64_t index, int64_t copies)
{
    return index % copies;
}

#endif
