/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/system/close_from.h"
#include "executors/attempt/shim_status.h"
#include "executors/shim/agent.h"
#include "executors/shim/contain.h"
#include "executors/shim/options.h"
#include "executors/shim/order.h"
#include "executors/shim/pilot.h"
#include "executors/shim/tty.h"

/*
 * smtune-shim: the small program between the engine and a command. It claims
 * the attempt's directory, runs the command there and writes down how it
 * ended, in the foreground for one attempt (inside a batch job, for example),
 * or as the agent of an engine for many.
 */

/* Nothing that was left open to us reaches the commands. 0, 1 and 2 are
 * always open, so that no other file gets their numbers. */
static void own_files(int keep_fd)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    close_from_on_exec(STDERR_FILENO + 1);
    if (keep_fd >= 0)
        fcntl(keep_fd, F_SETFD, FD_CLOEXEC);
}

static bool is_socket(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Away from the engine's session, so that neither its terminal nor its end
 * reaches us, and not its child, so that it need not wait for us. */
static int become_agent(int socket_fd, struct err *err)
{
    int null_fd;
    pid_t pid;

    if (!is_socket(socket_fd))
        return err_set(err, ERR_USAGE, "descriptor %d is not a socket",
                       socket_fd);
    pid = fork();
    if (pid < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot fork");
    if (pid > 0)
        _exit(0);
    setsid();
    null_fd = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= STDERR_FILENO && null_fd >= 0; fd++)
        dup2(null_fd, fd);
    if (null_fd > STDERR_FILENO)
        close(null_fd);
    if (chdir("/") != 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot change to directory '/'");
    return agent_run(socket_fd, err);
}

static int run_command(const struct shim_options *options, char **words,
                       struct err *err)
{
    char work_directory[PATH_MAX], *directory = fs_absolute(words[0]);
    bool has_dashes = strcmp(words[1], "--") == 0 && words[2] != NULL;
    const struct attempt_spec spec = {.attempt = options->attempt,
                                      .directory = directory,
                                      .work_directory = work_directory,
                                      .argv = words + (has_dashes ? 2 : 1),
                                      .envp = environ,
                                      .memory_bytes = options->memory_bytes,
                                      .time_ms = options->time_ms,
                                      .grace_ms = options->grace_ms};
    int status;

    if (getcwd(work_directory, sizeof(work_directory)) == NULL)
        snprintf(work_directory, sizeof(work_directory), "/");
    status = order_run_command(&spec, options->without_cgroups, err);
    free(directory);
    return status;
}

static int run_options(int argc, char **argv, struct err *err)
{
    struct shim_options options;
    int first = shim_options_parse(&options, argc, argv), status;

    if (!options.with_tty) /* which hands all files on to its command */
        own_files((int)options.agent_fd);
    if (options.with_tty)
        status = tty_run(argv + first, err);
    else if (options.agent_fd >= 0)
        status =
            become_agent((int)options.agent_fd, err) == 0 ? 0 : SHIM_FAILED;
    else if (options.pilot != NULL)
        status = pilot_run(&options, err);
    else if (options.order != NULL || options.orders != NULL)
        status = order_run(&options, err);
    else
        status = run_command(&options, argv + first, err);
    return status;
}

int main(int argc, char **argv)
{
    struct err err = {ERR_NONE, "", 0, 0, ""};
    int status;

    if (argc > 1 && strcmp(argv[1], "--container") == 0)
        status = contain_run(argv + 2, &err);
    else
        status = run_options(argc, argv, &err);
    if (err.kind != ERR_NONE)
        fprintf(stderr, "smtune-shim: %s\n", err.text);
    return status;
}
