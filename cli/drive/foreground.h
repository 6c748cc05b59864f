/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_FOREGROUND_H
#define SMTUNE_CLI_DRIVE_FOREGROUND_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cmd.h"

struct diags;
struct engine_result;
struct engine_trial;
struct experiment_source;
struct run;
struct spec;
struct store;

/*
 * Drives a run to its end in this process: progress to stderr, and in the end
 * the summary (with -o json: one object) to stdout. The exit status: 0 done, 1
 * the run failed, 6 ended without reaching what was asked (its target, or any
 * result at all), 130 or 143 stopped by a signal.
 */
int foreground_run(const struct cli *cli, struct run *run, struct err *err);

/* Who else hears of each trial or job that ends, or goes on. */
struct foreground_listener {
    void (*trial_ended)(void *user, const struct engine_trial *trial);
    void *user;
};

/*
 * The same without its end: nothing goes to stdout, and *result is what came of
 * it. listener may be NULL. 0, or -1.
 */
int foreground_drive(const struct cli *cli, struct run *run,
                     const struct foreground_listener *listener,
                     struct engine_result *result, struct err *err);

/* 0 where a run starts its trials. ERR_USAGE where other programs run them
 * (search_session.h). */
int foreground_check_starts(const struct run *run, struct err *err);

/* Ends what a dead engine left running, and marks the run stopped. */
int foreground_stop_orphans(const struct cli *cli, int64_t run,
                            struct err *err);

/* Opens a run of the record for its engine; what is wrong with its file goes
 * to stderr. NULL on error. */
struct run *foreground_open(const struct cli *cli, struct store *store,
                            int64_t run, struct err *err);

/* The option that changes values of a file. */
#define DRIVE_OPT_SET(type, member)                                            \
    {                                                                          \
        "set", 's', OPT_TEXTS, offsetof(type, member), "KEY=VALUE",            \
            "change one value of the file (a.b.c=VALUE); may be repeated", 0,  \
            NULL                                                               \
    }

/* As spec_load(), also of the template files that a trial is to get. */
int foreground_read(const struct experiment_source *file, struct spec *spec,
                    struct diags *diags, struct err *err);

/* Loads a file with those changes; the caller clears *spec. What is wrong with
 * the file goes to stderr: 3. */
int foreground_load(const struct cli *cli, const char *path,
                    const struct opt_texts *set, struct spec *spec,
                    struct err *err);

/* Prints what is wrong with a file: 3. Where diags is empty: -1, for err. */
int foreground_print_diags(const struct cli *cli, struct diags *diags);

#endif
