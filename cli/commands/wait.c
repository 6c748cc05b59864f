/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/show/run/run_outcome.h"
#include "cli/term/output.h"
#include "store/engine_lock.h"
#include "store/store.h"

/*
 * Waits for the end of a run by its engine's lock, which costs no more than a
 * system call to ask about, and reads the record when the lock is free. Just
 * after `run --detach`, or between two engines, nobody holds it for a moment:
 * only when that goes on is the engine taken for dead.
 */

enum { POLL_MS = 100, NO_ENGINE_MS = 3000, STATUS_TIMEOUT = 124 };

struct wait_options {
    struct opt_duration timeout;
};

enum sight { SIGHT_ERROR = -1, SIGHT_ENGINE, SIGHT_NO_ENGINE, SIGHT_ENDED };

static enum sight look(struct store *store, int64_t run, const char *directory,
                       struct run_outcome *ending, struct err *err)
{
    int64_t pid;
    int held = engine_lock_probe(directory, &pid, err);

    if (held != 0)
        return held > 0 ? SIGHT_ENGINE : SIGHT_ERROR;
    if (run_outcome_read(ending, store, run, err) != 0)
        return SIGHT_ERROR;
    return strcmp(ending->state, "running") == 0 ? SIGHT_NO_ENGINE
                                                 : SIGHT_ENDED;
}

static void pause_ms(int64_t ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* 0 when the run has ended, STATUS_TIMEOUT, or -1. */
static int wait_for(struct store *store, int64_t run, const char *directory,
                    int64_t timeout_ms, struct run_outcome *ending,
                    struct err *err)
{
    int64_t start = clock_monotonic_ms();
    int64_t seen = start; /* when an engine was last there */

    for (;;) {
        enum sight sight = look(store, run, directory, ending, err);
        int64_t now = clock_monotonic_ms();

        if (sight == SIGHT_ENDED)
            return 0;
        if (sight == SIGHT_ERROR)
            return -1;
        if (sight == SIGHT_ENGINE)
            seen = now;
        if (now - seen >= NO_ENGINE_MS)
            return err_set(
                err, ERR_FAILED,
                "run '%s' lost its engine (resume it: smtune resume %s)",
                ending->name, ending->name);
        if (timeout_ms >= 0 && now - start >= timeout_ms)
            return STATUS_TIMEOUT;
        pause_ms(POLL_MS);
    }
}

static int print_ending(const struct cli *cli, const struct run_outcome *ending,
                        struct err *err)
{
    static const struct table_column columns[] = {
        {"run", NULL, COLUMN_TEXT, NULL},
        {"state", NULL, COLUMN_STATE, NULL},
        {"reason", NULL, COLUMN_TEXT, NULL},
    };
    const struct value cells[] = {value_text(ending->name),
                                  value_text(ending->state),
                                  value_text(ending->reason)};

    if (cli->quiet)
        return 0;
    return output_object(cli, columns, cells, 3, err);
}

static int wait_run(const struct cli *cli, struct store *store,
                    const char *selector, int64_t timeout_ms, struct err *err)
{
    struct run_outcome ending = {NULL};
    char *directory = NULL;
    int64_t run;
    int status = -1;

    if (store_find_run(store, selector, &run, err) < 0 ||
        run_outcome_read(&ending, store, run, err) != 0)
        goto out;
    directory = store_run_directory(store, ending.name);
    status = wait_for(store, run, directory, timeout_ms, &ending, err);
    if (status == STATUS_TIMEOUT && !cli->quiet)
        fprintf(stderr, "smtune: run '%s' is still running\n", selector);
    if (status == 0)
        status = print_ending(cli, &ending, err) == 0
                     ? run_outcome_status(&ending)
                     : -1;
out:
    free(directory);
    run_outcome_clear(&ending);
    return status;
}

static int exec_wait(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct wait_options *given = options;
    struct store *store;
    int64_t timeout_ms = given->timeout.is_given ? given->timeout.ms : -1;
    int status;

    (void)count;
    store = store_open(cli->store, STORE_READ, err);
    if (store == NULL)
        return -1;
    status = wait_run(cli, store, operands[0], timeout_ms, err);
    store_close(store);
    return status;
}

static const struct opt wait_opts[] = {
    {.name = "timeout",
     .letter = 't',
     .type = OPT_DURATION,
     .offset = offsetof(struct wait_options, timeout),
     .argument = "DURATION",
     .doc = "give up after 90s, 10m, 2h; with 0, do not wait"},
    {.name = NULL},
};

const struct cmd cmd_wait = {
    .name = "wait",
    .operands = "RUN",
    .summary = "wait until a run has ended",
    .details = "Exit status: 0 the run is done; 1 it failed, was stopped "
               "or lost its engine; 6 it ended without the target, or "
               "without a successful trial; 124 it is still running after "
               "--timeout.\n",
    .examples = "smtune wait last                         # without a "
                "limit\n"
                "smtune wait digits --timeout 2h && echo done\n",
    .completes = "run",
    .opts = wait_opts,
    .options_size = sizeof(struct wait_options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_wait,
};
