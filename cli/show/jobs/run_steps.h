/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_RUN_STEPS_H
#define SMTUNE_CLI_SHOW_JOBS_RUN_STEPS_H

#include "base/err.h"
#include "cli/show/jobs/step_list.h"
#include "orchestrator/spec/spec.h"

struct store;

/* The steps of a workflow's run as its record has them, with its file. */
struct run_steps {
    struct step_list list;
    struct spec spec; /* empty where its file no longer passes */
};

/* 0, or -1; to be cleared in either case. */
int run_steps_load(struct run_steps *steps, struct store *store, int64_t run,
                   struct err *err);
/* Reads anew what may have changed since. Where that fails, nothing has. */
int run_steps_refresh(struct run_steps *steps, struct store *store, int64_t run,
                      struct err *err);
void run_steps_clear(struct run_steps *steps);

#endif
