/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_RESUME_PROMPT_H
#define SMTUNE_CLI_DRIVE_RESUME_PROMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cli;
struct run_order;
struct spec;

/* What `smtune run` is asked to run. */
struct resume_prompt {
    const struct spec *spec;
    const struct run_order *order;
    bool resume; /* --resume: go on without asking */
    bool failed; /* --failed: and with what failed, too */
};

enum resume_answer {
    RESUME_ERROR = -1,
    RESUME_NEW,    /* a run is to be made */
    RESUME_GO_ON,  /* that of *run, which is 0 for a new one, is to go on */
    RESUME_RETRY,  /* and what has failed in it runs again */
    RESUME_NOTHING /* it is over, as stderr says */
};

/*
 * Where the order is for a job of another run: the run that the job began
 * before, if there is one, without asking. Else, where the run of that name is
 * of the same file and not over, offers to go on with it: on a terminal it asks
 * there. ERR_BUSY where it is asked to go on with one that it cannot.
 */
enum resume_answer resume_prompt_ask(const struct cli *cli,
                                     const struct resume_prompt *prompt,
                                     int64_t *run, struct err *err);

#endif
