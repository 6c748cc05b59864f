/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_DETACH_H
#define SMTUNE_CLI_DRIVE_DETACH_H

#include <sys/types.h>

#include "base/err.h"

/*
 * Going on in the background. Called before anything is opened that must not
 * be shared by two processes (the store above all).
 */
struct detach {
    pid_t child; /* 0 in the child */
    int pipe;    /* the child's word to its parent */
};

/* Forks. -1 on error; otherwise both go on, and *detach says who is who. */
int detach_fork(struct detach *detach, struct err *err);

/*
 * In the child: all is well, `line` is what the parent prints. From then on
 * its output goes to the file at log_path.
 */
int detach_tell(struct detach *detach, const char *line, const char *log_path,
                struct err *err);

/* In the parent: waits for that line, prints it and gives 0; when the child
 * ends without it, gives its exit status (it has said why on stderr). */
int detach_wait(struct detach *detach);

#endif
