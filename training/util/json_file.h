/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_JSON_FILE_H
#define SMTUNE_TRAINING_UTIL_JSON_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* Files of JSON that other programs write and read. */

/* The JSON of a file, a new reference; NULL with an error that has the path. */
json_t *json_file_read(const char *path, size_t max_bytes, struct err *err);
/* Replaces the file of that name in the folder. Takes the JSON. 0, or -1. */
int json_file_write(const char *folder, const char *name, json_t *json,
                    struct err *err);

#endif
