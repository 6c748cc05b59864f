/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_EACH_SPEC_H
#define SMTUNE_CLI_EACH_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/spec.h"

struct cli;
struct each_command;
struct each_lines;

/*
 * What `smtune each` is asked for, as a workflow of one step, `each`, whose
 * matrix has the lines. They are in a file of the run's folder, with their
 * digest in its name, so that other lines are another file. All is borrowed.
 */
struct each_order {
    const struct each_command *command;
    const struct each_lines *lines;
    const char *folder;                   /* where commands start, absolute */
    const char *executor, *memory, *gpus; /* NULL: not asked for */
    int64_t jobs, cpus;                   /* 0: not asked for */
    int64_t retries, timeout_ms;          /* 0: none */
    bool fails_fast;
    const char *const *set; /* [set_count] words of --set */
    size_t set_count;
};

/* The name of a run of that command, those lines and that folder, whatever else
 * is asked for: "gzip-1a2b3c4d". The caller's to free, as is the next. */
char *each_spec_name(const struct each_order *order);
/* Where the run of that name has its lines. */
char *each_spec_lines_path(const struct each_order *order,
                           const char *run_directory);

/* Whether job N of a run of it is line N of that file. */
bool each_spec_has_lines(const struct spec *spec, const char *lines_path);

/*
 * The workflow of a run that has its lines there, read and checked. `before`
 * is the file of a run, whose words of --set come before the order's, but for
 * those that an option of the order replaces; NULL: of a new run. That one has
 * the defaults of configuration files, and so has another executor. What is
 * wrong goes to stderr: 3; or -1 with err. The caller clears *spec.
 */
int each_spec_parse(const struct cli *cli, const struct each_order *order,
                    const char *lines_path, const struct spec *before,
                    struct spec *spec, struct err *err);

#endif
