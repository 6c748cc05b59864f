/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_FILE_PRINT_H
#define SMTUNE_ORCHESTRATOR_JOB_FILE_PRINT_H

#include "base/err.h"
#include "base/json.h"

struct buf;

/*
 * A JSON object as a file of another format. A text is quoted wherever a reader
 * could take it for something else, and a real number keeps a dot, so that
 * YAML 1.1 reads 1.0e-05 as a number.
 */

/* Appends YAML, in block style. */
void file_print_yaml(const json_t *object, struct buf *out);

/* Appends TOML. A null has no form there: its key is left out, and in a list it
 * is an error. */
int file_print_toml(const json_t *object, struct buf *out, struct err *err);

#endif
