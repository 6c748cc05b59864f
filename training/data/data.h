/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_DATA_H
#define SMTUNE_TRAINING_DATA_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Samples to learn from, in memory: each has bytes that go into the model and
 * one or more targets, which are classes that it is to tell. The last ones of
 * those opened for training are held out to measure with; those for the test
 * are in another part of the data, which training never opens.
 */

enum data_part { DATA_TRAIN, DATA_TEST };

/* Embedded as the first member of a kind's own struct. */
struct data {
    const struct data_kind *kind;
    size_t count;       /* of samples, those held out included */
    size_t held_out;    /* the first that is held out; `count` for a test */
    size_t input_bytes; /* of a sample */
    size_t targets;     /* of a sample */
    size_t classes;     /* targets are 0 .. classes - 1 */
    uint32_t digest;    /* of what is to be learnt: other data, another one */
    double bytes_per_target; /* of text: held out ones in the mean, or those of
                                a test; 0: what is learnt is no text */
    char *merges;            /* of text: bpe_print's, with commas; else NULL */
};

/* A format. A new one is one file with one of these. */
struct data_kind {
    const char *name;
    const char *default_path;
    const char *package; /* of Debian, which has that */
    /* model_options: of the model that has this kind. NULL with ERR_NOT_FOUND
     * (no file) or ERR_FILE (damaged, or of no use): names the file. */
    struct data *(*open)(const char *path, enum data_part part,
                         const void *model_options, struct err *err);
    void (*close)(struct data *data);
    /* inputs[count][input_bytes] and targets[count][targets] of the samples
     * with these numbers. */
    void (*gather)(const struct data *data, const uint32_t *samples,
                   size_t count, void *inputs, uint16_t *targets);
};

/* Where the data are: as chosen, or (NULL) the default. NULL with ERR_NOT_FOUND
 * where that is not installed. Borrowed. */
const char *data_path(const struct data_kind *kind, const char *chosen,
                      struct err *err);

extern const struct data_kind data_images; /* inputs: bytes of pixels */

/*
 * The numbers 0 .. count - 1 in an order that is a function of (seed, epoch)
 * alone, so that a run that goes on after a restart sees what it would have
 * seen. order[count].
 */
void data_shuffle(uint32_t *order, size_t count, uint64_t seed, uint64_t epoch);

#endif
