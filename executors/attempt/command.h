/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_COMMAND_H
#define SMTUNE_EXECUTORS_ATTEMPT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

/*
 * A program that runs beside the loop, reads a given text, and whose output is
 * gathered. It is the leader of a process group of its own.
 */

struct command_options {
    const char *program; /* a path */
    char *const *argv;   /* NULL-ended */
    char *const *envp;   /* NULL-ended */
    const char *input;   /* its standard input; NULL: empty */
    size_t output_max;   /* bytes of each of its two outputs, at most */
    int64_t limit_ms;    /* then it gets SIGTERM, and SIGKILL 2 s later */
    const char *stop_at; /* ended once its errors say this; NULL: never */
};

struct command_result {
    int exit_code;   /* -1 when a signal ended it */
    bool is_late;    /* its time was over, or it was told to end */
    bool is_cut;     /* it wrote more than output_max, and was ended */
    bool is_stopped; /* it said stop_at, and was ended */
    char *output;    /* [output_length], and a NUL behind; may be changed */
    size_t output_length;
    const char *errors; /* what it wrote to its standard error output */
};

struct command;

/* Once, from the loop; the result lives during the call. */
typedef void command_fn(void *user, const struct command_result *result);

/* Everything in options is borrowed for the call. NULL with an error where it
 * could not be started: `done` is not called then. */
struct command *command_start(uv_loop_t *loop,
                              const struct command_options *options,
                              command_fn *done, void *user, struct err *err);

/* Ends it with SIGKILL; `done` follows. */
void command_kill(struct command *command);

#endif
