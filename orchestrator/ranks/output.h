/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RANKS_OUTPUT_H
#define SMTUNE_ORCHESTRATOR_RANKS_OUTPUT_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"

/*
 * Where the ranks of a group write, and what becomes of it. Rank 0 has this
 * process's stdout and stderr themselves. The lines of the others come there
 * with "[rank N] " in front; with `tag`, those of rank 0 do too. With a log
 * directory each rank's go to a file there, and only rank 0's are shown.
 *
 * Nothing here ever waits: where nobody reads our stdout, no more is read from
 * the ranks.
 */

struct buf;
struct rank_outputs;

struct rank_output_options {
    uv_loop_t *loop;
    int tasks; /* ranks of this process */
    int first; /* the number of the first; others follow. Functions below take
                  a rank's place among them, 0 for the first */
    const char *log_directory; /* made if it is not there; NULL: none */
    bool tag;
    void (*done)(void *user); /* see rank_outputs_are_done() */
    void *user;
};

struct rank_outputs *rank_outputs_create(
    const struct rank_output_options *options, struct err *err);
/* Closes what is on the loop, which must turn before the memory is freed. */
void rank_outputs_close(struct rank_outputs *outputs);
void rank_outputs_destroy(struct rank_outputs *outputs);

/* The files for a rank's stdout and stderr; rank_outputs_started() closes
 * them in this process, once it has been spawned or could not be. */
int rank_outputs_open(struct rank_outputs *outputs, int rank, int *out_fd,
                      int *err_fd, struct err *err);
void rank_outputs_started(struct rank_outputs *outputs, int rank);

/* Reads what the rank has written so far. */
void rank_outputs_drain(struct rank_outputs *outputs, int rank);
/* Appends its last lines, as far as they came by here or are in its file. */
void rank_outputs_tail(struct rank_outputs *outputs, int rank, struct buf *out);

/* Every rank's output has come to its end and is where it belongs. */
bool rank_outputs_are_done(const struct rank_outputs *outputs);
/* Why a part of a log could not be written; NULL: all was. */
const struct err *rank_outputs_error(const struct rank_outputs *outputs);

#endif
