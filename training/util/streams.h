/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_STREAMS_H
#define SMTUNE_TRAINING_UTIL_STREAMS_H

/*
 * What the random numbers of a training run are for: each purpose is a stream
 * of base/rng.h of its own, keyed by --seed and by what is named here. So
 * every number can be drawn again after a restart without being stored.
 */
enum {
    STREAM_INIT,            /* by tensor */
    STREAM_ORDER,           /* by epoch */
    STREAM_DROPOUT,         /* by step; layer i takes STREAM_DROPOUT + i */
    STREAM_SAMPLE = 1 << 16 /* of text */
};

#endif
