/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_LOG_FILE_H
#define SMTUNE_DASHBOARD_LOG_FILE_H

#include <stdint.h>

#include "base/err.h"

struct buf;

/*
 * The logs of attempts. What a trial does in its folder must not lead anywhere
 * else: a log is found by what the record says of its attempt, no symbolic link
 * below the store's folder of runs is followed, and only a file is read.
 */

struct log_file {
    int fd;             /* the caller's to close; -1: there is no log (yet) */
    int64_t rank_count; /* ranks that have logs beside each other; 1: none */
};

/*
 * Opens an attempt's log for reading, or (rank over 0) that of one of its
 * ranks. directory is the attempt's, relative to the store's. -1:
 * ERR_NOT_FOUND where what is there is no file of the store's, ERR_FAILED.
 */
int log_file_open(const char *store, const char *directory, int64_t rank,
                  struct log_file *file, struct err *err);

struct log_piece {
    int64_t from_byte, size_bytes; /* where it begins; of the whole file */
};

/* Appends at most `length` bytes from that byte on, of which one below 0 counts
 * from the end. */
int log_file_read(int fd, int64_t from_byte, int64_t length,
                  struct log_piece *piece, struct buf *out, struct err *err);

#endif
