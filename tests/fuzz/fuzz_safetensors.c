/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "training/weights/safetensors_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The weights are all of the data, one behind the other. */
static void check(const struct weight *weights, size_t count,
                  uint64_t data_bytes)
{
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t numbers = 1;

        assert(weights[i].dimensions <= WEIGHT_MAX_DIMENSIONS);
        assert(weights[i].dtype < DTYPE_COUNT);
        for (size_t j = 0; j < weights[i].dimensions; j++)
            numbers *= weights[i].shape[j];
        assert(weights[i].count == numbers);
        assert(weights[i].bytes == numbers * dtype_bytes(weights[i].dtype));
        assert(weights[i].begin == end);
        end += weights[i].bytes;
    }
    assert(end == data_bytes);
}

/* What was understood is the same from what is written of it. */
static void write_again(struct weight *weights, size_t count,
                        uint64_t data_bytes)
{
    struct buf header = BUF_INIT;
    struct weight *again;
    size_t found;

    safetensors_header_print(weights, count, &header);
    assert(header.length % 8 == 0);
    again = safetensors_header_parse(header.data + SAFETENSORS_LENGTH_BYTES,
                                     header.length - SAFETENSORS_LENGTH_BYTES,
                                     data_bytes, &found, NULL);
    assert(again != NULL && found == count);
    check(again, found, data_bytes);
    safetensors_header_free(again, found);
    buf_clear(&header);
}

/* A file: the length of its header, the header, the data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct weight *weights;
    uint64_t length = 0, data_bytes;
    size_t count;
    char *text;

    if (size < SAFETENSORS_LENGTH_BYTES)
        return 0;
    for (size_t i = SAFETENSORS_LENGTH_BYTES; i-- > 0;)
        length = length << 8 | data[i];
    size -= SAFETENSORS_LENGTH_BYTES;
    if (length > size)
        length = size;
    data_bytes = size - length;
    text = mem_copy_bytes(data + SAFETENSORS_LENGTH_BYTES, (size_t)length);
    weights = safetensors_header_parse(text, (size_t)length, data_bytes, &count,
                                       &err);
    assert((weights == NULL) == (err.kind != ERR_NONE));
    if (weights != NULL) {
        check(weights, count, data_bytes);
        write_again(weights, count, data_bytes);
    }
    safetensors_header_free(weights, weights != NULL ? count : 0);
    free(text);
    return 0;
}
