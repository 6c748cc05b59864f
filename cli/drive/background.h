/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_BACKGROUND_H
#define SMTUNE_CLI_DRIVE_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cmd.h"

struct detach;
struct run;

/* Runs that go on, in this process or in the background. */

#define BACKGROUND_OPT_DETACH(type, member)                                    \
    {                                                                          \
        "detach", 'd', OPT_FLAG, offsetof(type, member), NULL,                 \
            "go on in the background", 0, NULL                                 \
    }

/* In the child: all is well, the parent says how to follow the run. */
int background_tell(const struct cli *cli, const struct run *run,
                    struct detach *detach, struct err *err);

/* What is done to the run first, with its lock held. */
struct background_task {
    int (*begin)(struct run *run, void *user, struct err *err);
    void *user;
};

/*
 * Goes on with a run of the record that has no engine, as foreground_run says;
 * no store may be open. task may be NULL. With `detached` it is 0 as soon as
 * the run goes on.
 */
int background_go_on(const struct cli *cli, int64_t run, bool detached,
                     const struct background_task *task, struct err *err);

#endif
