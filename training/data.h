/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_H
#define SMTUNE_TRAINING_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Labelled images from a pair of IDX files, as MNIST and Fashion-MNIST come:
 * PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte, compressed by gzip
 * (then with .gz behind the name) or not.
 */

enum {
    DATA_CLASSES = 10,
    DATA_MAX_IMAGES = 10 * 1000 * 1000,
    DATA_MAX_SIDE = 1024 /* pixels, of an image */
};

/* Embedded; data_clear ends it, also after a data_load that failed. */
struct dataset {
    size_t count;
    size_t inputs;   /* pixels of one image: rows x columns */
    uint8_t *images; /* [count][inputs] */
    uint8_t *labels; /* [count], each under DATA_CLASSES */
};

/* prefix: "train" or "t10k". A missing file is ERR_NOT_FOUND, one that is
 * damaged or no such file ERR_FILE; both say which. */
int data_load(const char *directory, const char *prefix, struct dataset *data,
              struct err *err);
void data_clear(struct dataset *data);

/*
 * The numbers 0 .. count - 1 in an order that is a function of (seed, epoch)
 * alone, so that a run that goes on after a restart sees what it would have
 * seen. order[count].
 */
void data_shuffle(uint32_t *order, size_t count, uint64_t seed, uint64_t epoch);

#endif
