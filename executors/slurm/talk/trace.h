/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_TRACE_H
#define SMTUNE_EXECUTORS_SLURM_TALK_TRACE_H

#include <stdint.h>

#include "base/net/fetch.h"
#include "executors/attempt/command.h"

/*
 * The log of calls to Slurm, at level debug: one line when a call begins and
 * one when it has ended, with the same number. Input is never logged: a batch
 * script and a submission's body hold the environment of a job.
 */

struct log;

enum { SLURM_TRACE_BYTES = 2048 }; /* of an answer, at most */

/* A call on its way; the caller keeps it until the end. */
struct slurm_trace {
    int64_t number; /* of the transport's calls; it begins with 1 */
    int64_t asked_ms;
};

/* log may be NULL in all of them. A command's words, NULL-ended. */
void slurm_trace_command(struct log *log, struct slurm_trace *trace,
                         int64_t number, char *const *words);
void slurm_trace_result(struct log *log, const struct slurm_trace *trace,
                        const struct command_result *result);

/* A request to slurmrestd. */
void slurm_trace_request(struct log *log, struct slurm_trace *trace,
                         int64_t number, enum fetch_method method,
                         const char *url);
void slurm_trace_answer(struct log *log, const struct slurm_trace *trace,
                        const struct fetch_answer *answer);

/* It could not begin; text says why. */
void slurm_trace_failure(struct log *log, const struct slurm_trace *trace,
                         const char *text);

#endif
