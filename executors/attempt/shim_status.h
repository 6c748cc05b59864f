/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_SHIM_STATUS_H
#define SMTUNE_EXECUTORS_ATTEMPT_SHIM_STATUS_H

/*
 * How smtune-shim ends, where not as its command did (128 + N after signal N).
 * A command may end with the same number: what counts are the files. With
 * SHIM_UNHEALTHY, SHIM_NO_ORDER and SHIM_USAGE there is no claim.
 */
enum shim_status {
    SHIM_FAILED = 1,        /* it could not begin its work */
    SHIM_USAGE = 2,         /* its command line is wrong */
    SHIM_NO_ORDER = 123,    /* there is no order, or it cannot be read */
    SHIM_UNHEALTHY = 124,   /* the node did not pass: see `unhealthy` */
    SHIM_NOT_STARTED = 126, /* the command could not start: see `exit` */
    SHIM_SIGNAL = 128
};

/* In the directory of the attempt, or of the pilot: one line, what the health
 * check said. */
#define SHIM_UNHEALTHY_FILE "unhealthy"

#endif
