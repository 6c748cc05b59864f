/* SPDX-License-Identifier: GPL-3.0-or-later */
/* git as a program: what it prints, within limits of size and time. */
#include "orchestrator/run/git.h"

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "executors/attempt/command.h"

enum { WORDS_MAX = 16 };

struct reading {
    char *text;
    bool takes_cut, is_cut;
};

static void take(void *user, const struct command_result *result)
{
    struct reading *reading = user;

    if (result->is_cut ? !reading->takes_cut
                       : result->exit_code != 0 || result->is_late)
        return;
    reading->is_cut = result->is_cut;
    reading->text = mem_copy_bytes(result->output, result->output_length);
}

char *git_output(const char *directory, const char *const *words,
                 const struct git_limits *limits, bool *is_cut)
{
    /* nothing of the user's is locked or written for it */
    const char *const first[] = {"env", "GIT_OPTIONAL_LOCKS=0", "git", "-C",
                                 directory};
    char *argv[ARRAY_LEN(first) + WORDS_MAX + 1] = {NULL};
    const struct command_options options = {
        .program = "/usr/bin/env",
        .argv = argv,
        .envp = environ,
        .output_max = limits->output_bytes,
        .limit_ms = limits->time_ms,
    };
    struct reading reading = {.takes_cut = is_cut != NULL};
    size_t count = 0;
    uv_loop_t loop;
    struct err ignored;

    if (uv_loop_init(&loop) != 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        argv[count++] = mem_copy_string(first[i]);
    for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
        argv[count++] = mem_copy_string(words[i]);
    if (command_start(&loop, &options, take, &reading, &ignored) != NULL)
        uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < count; i++)
        free(argv[i]);
    uv_loop_close(&loop);
    if (is_cut != NULL)
        *is_cut = reading.is_cut;
    return reading.text;
}
