/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commit of the code that a run uses, by git. git must not write or lock
 * anything in the user's repository, and a slow file system must not delay a
 * run. So there is a time limit and no error: without an answer the commit is
 * unknown.
 */
#include "orchestrator/run/revision.h"

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "executors/attempt/command.h"
#include "orchestrator/run/run.h"

enum { LIMIT_MS = 1000, OUTPUT_MAX_BYTES = 128 };

static void take_line(void *user, const struct command_result *result)
{
    char **line = user;
    size_t length = result->output_length;

    if (result->exit_code == 0 && !result->is_late && !result->is_cut &&
        length > 1 && result->output[length - 1] == '\n')
        *line = mem_copy_bytes(result->output, length - 1);
}

char *revision_of(const char *directory)
{
    const char *const words[] = {
        /* nothing of the user's is locked or written for it */
        "env",         "GIT_OPTIONAL_LOCKS=0",
        "git",         "-C",
        directory,     "describe",
        "--always",    "--dirty",
        "--abbrev=40", "--exclude=*"};
    char *argv[ARRAY_LEN(words) + 1] = {NULL};
    const struct command_options options = {
        .program = "/usr/bin/env",
        .argv = argv,
        .envp = environ,
        .output_max = OUTPUT_MAX_BYTES,
        .limit_ms = LIMIT_MS,
    };
    char *revision = NULL;
    uv_loop_t loop;
    struct err ignored;

    if (uv_loop_init(&loop) != 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        argv[i] = mem_copy_string(words[i]);
    if (command_start(&loop, &options, take_line, &revision, &ignored) != NULL)
        uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        free(argv[i]);
    uv_loop_close(&loop);
    return revision;
}

/* The session of an engine that died ends before: when it was last heard of. */
int revision_record(struct run *run, const char *revision, struct err *err)
{
    struct store *store = run->store;

    if (store_begin(store, err) == 0 &&
        store_end_dead_engine(store, run->id, err) == 0 &&
        store_set_run_revision(store, run->id, revision, clock_wall_ms(),
                               err) == 0 &&
        store_commit(store, err) == 0)
        return 0;
    store_rollback(store);
    return -1;
}
