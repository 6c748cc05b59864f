/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "executors/attempt/shim_status.h"
#include "executors/shim/health.h"

void node_name(char name[EXECUTOR_NODE_MAX])
{
    const char *slurm = getenv("SLURMD_NODENAME");

    if (slurm != NULL && slurm[0] != '\0')
        snprintf(name, EXECUTOR_NODE_MAX, "%s", slurm);
    else if (gethostname(name, EXECUTOR_NODE_MAX) != 0)
        name[0] = '\0';
    name[EXECUTOR_NODE_MAX - 1] = '\0';
}

int64_t node_job(void)
{
    const char *job = getenv("SLURM_JOB_ID");

    return job != NULL ? strtoll(job, NULL, 10) : 0;
}

/* Of the node's name, which is none of ours to choose. */
static char *memo_path(const char *folder)
{
    char name[EXECUTOR_NODE_MAX];

    node_name(name);
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '/' || (at == name && *at == '.'))
            *at = '_';
    }
    return fs_join(folder, name);
}

static void tell_unhealthy(const char *directory, const char *text)
{
    char *path = fs_join(directory, SHIM_UNHEALTHY_FILE);
    char line[HEALTH_TEXT_MAX + 1];

    snprintf(line, sizeof(line), "%s\n", text);
    fs_write_atomic(path, line, strlen(line), fs_shared_mode(path, 0600), NULL);
    free(path);
}

bool node_is_healthy(const struct shim_options *options,
                     const struct attempt_spec *needs, struct err *err)
{
    char text[HEALTH_TEXT_MAX];
    char *memo;
    bool is_healthy;

    if (options->healthy == NULL)
        return true;
    memo = memo_path(options->healthy);
    is_healthy = fs_exists(memo);
    if (!is_healthy) {
        is_healthy = health_check(needs, options->health, text) == 0;
        if (is_healthy) {
            fs_write_atomic(memo, "", 0, fs_shared_mode(memo, 0600), NULL);
        } else {
            tell_unhealthy(needs->directory, text);
            err_set(err, ERR_FAILED, "this node failed the health check: %s",
                    text);
        }
    }
    free(memo);
    return is_healthy;
}
