/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_VALUE_FILE_H
#define SMTUNE_ORCHESTRATOR_JOB_VALUE_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/*
 * Values by name, as a job writes them for others: a JSON object where the text
 * begins with '{' or the file's name ends in .json; else lines of key=value.
 *
 * Of lines, blanks around keys and values count for nothing, nor do empty ones
 * and those that begin with '#'. What stands in a pair of quotes, single or
 * double, is text; true, false and decimal numbers are what they say; all else
 * is text, an integer of more than 64 bits, too. A key that comes again has its
 * last value.
 */

enum { VALUE_FILE_BYTES_MAX = 1 << 20 };

/* A file's values by key. */
struct value_file {
    json_t *values; /* an object */
    json_t *texts;  /* of numbers in lines that were written in another form
                       than value_print_argument's: what was written */
};

/* Name is for the error and its ending; the caller clears *file. -1 with
 * ERR_FILE. */
int value_file_parse(const char *name, const char *text, size_t length,
                     struct value_file *file, struct err *err);
void value_file_clear(struct value_file *file);

/* The value of "a.b": that of the key "a.b", else of "b" in the object "a".
 * Borrowed; NULL: there is none, and the error says so, with the nearest. */
const json_t *value_file_find(const json_t *object, const char *key,
                              struct err *err);

#endif
