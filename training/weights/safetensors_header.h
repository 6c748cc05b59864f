/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_WEIGHTS_SAFETENSORS_HEADER_H
#define SMTUNE_TRAINING_WEIGHTS_SAFETENSORS_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "training/weights/weight.h"

struct buf;

/*
 * The header of a file of the format safetensors: 8 bytes with the length of a
 * JSON text (little-endian), that text, then the data. The text has for each
 * tensor a type, a shape and where its bytes are in the data.
 */

enum { SAFETENSORS_LENGTH_BYTES = 8, SAFETENSORS_HEADER_MAX_BYTES = 1 << 24 };

/*
 * Reads the JSON text of a file that has so many bytes of data: [*count]
 * weights, in the order of their data, which are all of it, without holes and
 * without any byte that two of them have. NULL with ERR_FILE, which names the
 * tensor.
 */
struct weight *safetensors_header_parse(const char *text, size_t length,
                                        uint64_t data_bytes, size_t *count,
                                        struct err *err);
/* Frees the names, too. */
void safetensors_header_free(struct weight *weights, size_t count);

/* Appends the 8 bytes and the text for weights whose data come in this order,
 * and sets `begin` and `bytes` of each. */
void safetensors_header_print(struct weight *weights, size_t count,
                              struct buf *out);

#endif
