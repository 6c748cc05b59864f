/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_FILE_PRINT_H
#define SMTUNE_ORCHESTRATOR_JOB_FILE_PRINT_H

#include "base/err.h"
#include "base/json.h"

struct buf;

/*
 * A JSON object as a file of some format. A text is quoted wherever a reader
 * could take it for something else, and a real number keeps a dot, so that
 * YAML 1.1 reads 1.0e-05 as a number. What a format has no form for is an error
 * (ERR_FILE) with the key.
 */

/* A number for these printers, which may be NaN or infinite. A new reference.
 */
json_t *file_print_real(double real);
/* A scalar, and a key, that YAML gets without quotes, as they are. A new
 * reference; the caller's to free. */
json_t *file_print_plain(const char *text);
char *file_print_plain_key(const char *text);

/* Appends YAML, in block style. */
void file_print_yaml(const json_t *object, struct buf *out);

/* Appends TOML, which has no null; or a value of any kind as TOML, on one line.
 */
int file_print_toml(const json_t *object, struct buf *out, struct err *err);
int file_print_toml_value(const json_t *json, struct buf *out, struct err *err);

/* Appends JSON, which has neither NaN nor infinities. */
int file_print_json(const json_t *object, struct buf *out, struct err *err);

#endif
