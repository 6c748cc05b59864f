/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_TEXT_FILE_H
#define SMTUNE_TRAINING_UTIL_TEXT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The bytes of a file, compressed by gzip or dictzip or not at all: malloc'ed.
 * NULL with ERR_NOT_FOUND, or ERR_FILE where it is damaged, empty or over 2
 * GiB. */
uint8_t *text_file_read(const char *path, size_t *length, struct err *err);

#endif
