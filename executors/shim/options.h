/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_OPTIONS_H
#define SMTUNE_EXECUTORS_SHIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The command line of smtune-shim. Texts are NULL, and numbers 0, where nothing
 * is said below and it was not given. */
struct shim_options {
    int64_t attempt, time_ms, memory_bytes;
    int64_t grace_ms; /* 10000 */
    bool without_cgroups;
    bool with_tty;    /* run the command on a terminal, and nothing else */
    int64_t agent_fd; /* -1 */

    const char *order;      /* directory with `order` */
    const char *orders;     /* list of such, for an array */
    const char *pilot;      /* directory with spools */
    int64_t heartbeat_ms;   /* 10000 */
    int64_t silence_ms;     /* 60000 */
    const char *health;     /* a shell command; NULL: built-in checks alone */
    const char *healthy;    /* folder of memos; NULL: no health check */
    const char *reserve_of; /* directory of the attempt before */
    const char *engine;     /* folder with its pulse */
    int64_t cpus, gpus, left_ms, idle_ms;
};

/* Returns the index of the first argument that is no option. Ends the program
 * where the command line is wrong, or help was asked for. */
int shim_options_parse(struct shim_options *options, int argc, char **argv);

#endif
