/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "executors/shim_agent.h"
#include "executors/shim_supervisor.h"

/*
 * smtune-shim: the small program between the engine and a command. It claims
 * the attempt's directory, runs the command there and writes down how it
 * ended, in the foreground for one attempt (inside a batch job, for example),
 * or as the agent of an engine for many.
 */

enum {
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_NOT_STARTED = 126,
    STATUS_SIGNAL = 128,
    GRACE_MS = 10000
};

static const char usage[] =
    "usage: smtune-shim [options] DIRECTORY -- COMMAND [ARGUMENT]...\n"
    "       smtune-shim --agent FD\n"
    "\n"
    "Runs the command as an attempt in DIRECTORY: makes `claim` there, sends\n"
    "the output to `log`, writes `exit` at the end, and exits as the command\n"
    "did (128 + N after signal N, 126 when it could not start). Where the\n"
    "directory is claimed already it does nothing and exits with 0.\n"
    "\n"
    "  --attempt ID     the attempt's number (0)\n"
    "  --time MS        end it after so many milliseconds\n"
    "  --memory BYTES   end it when its processes take more\n"
    "  --grace MS       from SIGTERM to SIGKILL (10000)\n"
    "  --no-cgroup      make no control group for it\n"
    "  --agent FD       serve an engine on this socket\n";

/* -- One attempt in the foreground ----------------------------------------*/

struct foreground {
    struct supervisor *supervisor;
    struct attempt_exit end;
    bool has_ended;
};

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct foreground *foreground = user;

    foreground->end = *end;
    foreground->has_ended = true;
}

static void on_signal(void *user, int signal_number)
{
    struct foreground *foreground = user;

    (void)signal_number;
    supervisor_cancel(foreground->supervisor, foreground->end.attempt,
                      CANCEL_TERM);
}

static int exit_status(const struct attempt_exit *end)
{
    if (end->signal != 0)
        return STATUS_SIGNAL + end->signal;
    return end->exit_code;
}

static int run_foreground(const struct attempt_spec *spec, bool without_cgroups,
                          struct err *err)
{
    struct foreground foreground = {.end = {.attempt = spec->attempt}};
    const struct supervisor_events events = {
        .ended = on_ended, .signalled = on_signal, .user = &foreground};
    pid_t pid;

    foreground.supervisor = supervisor_create(&events, err);
    if (foreground.supervisor == NULL)
        return STATUS_FAILED;
    if (!without_cgroups)
        supervisor_use_cgroups(foreground.supervisor, 0);
    pid = supervisor_start(foreground.supervisor, spec, NULL, false,
                           &foreground.end);
    if (pid <= 0)
        fprintf(stderr, "smtune-shim: %s\n", foreground.end.text);
    while (!supervisor_is_idle(foreground.supervisor))
        supervisor_turn(foreground.supervisor, -1, 0, 0);
    supervisor_destroy(foreground.supervisor);
    if (pid < 0)
        return 0;
    return pid == 0 ? STATUS_NOT_STARTED : exit_status(&foreground.end);
}

/* -- Arguments ------------------------------------------------------------*/

enum {
    OPTION_ATTEMPT,
    OPTION_TIME,
    OPTION_MEMORY,
    OPTION_GRACE,
    OPTION_NO_CGROUP,
    OPTION_AGENT,
    OPTION_HELP
};

static const struct option options[] = {
    {"attempt", required_argument, NULL, OPTION_ATTEMPT},
    {"time", required_argument, NULL, OPTION_TIME},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"grace", required_argument, NULL, OPTION_GRACE},
    {"no-cgroup", no_argument, NULL, OPTION_NO_CGROUP},
    {"agent", required_argument, NULL, OPTION_AGENT},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static int64_t parse_number(const char *text)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 0) {
        fprintf(stderr, "smtune-shim: '%s' is not a number\n", text);
        exit(STATUS_USAGE);
    }
    return number;
}

struct arguments {
    struct attempt_spec spec;
    bool without_cgroups;
    int agent_fd; /* -1: none */
};

static void parse_options(int argc, char **argv, struct arguments *arguments)
{
    struct attempt_spec *spec = &arguments->spec;
    int option;

    while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
        switch (option) {
        case OPTION_ATTEMPT:
            spec->attempt = parse_number(optarg);
            break;
        case OPTION_TIME:
            spec->time_ms = parse_number(optarg);
            break;
        case OPTION_MEMORY:
            spec->memory_bytes = parse_number(optarg);
            break;
        case OPTION_GRACE:
            spec->grace_ms = parse_number(optarg);
            break;
        case OPTION_NO_CGROUP:
            arguments->without_cgroups = true;
            break;
        case OPTION_AGENT:
            arguments->agent_fd = (int)parse_number(optarg);
            break;
        case OPTION_HELP:
            fputs(usage, stdout);
            exit(0);
        default:
            fputs(usage, stderr);
            exit(STATUS_USAGE);
        }
    }
}

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
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
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
        return err_set(err, ERR_USAGE, "descriptor %d is no socket", socket_fd);
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
        return err_set_errno(err, ERR_FAILED, errno, "cannot enter '/'");
    return agent_run(socket_fd, err);
}

int main(int argc, char **argv)
{
    char work_directory[PATH_MAX], *directory;
    struct arguments arguments = {
        .spec = {.envp = environ, .grace_ms = GRACE_MS}, .agent_fd = -1};
    struct attempt_spec *spec = &arguments.spec;
    struct err err = {ERR_NONE, "", 0, 0, ""};
    int status;

    parse_options(argc, argv, &arguments);
    own_files(arguments.agent_fd);
    if (arguments.agent_fd >= 0) {
        status =
            become_agent(arguments.agent_fd, &err) == 0 ? 0 : STATUS_FAILED;
    } else {
        if (argc - optind < 2) {
            fputs(usage, stderr);
            return STATUS_USAGE;
        }
        if (getcwd(work_directory, sizeof(work_directory)) == NULL)
            snprintf(work_directory, sizeof(work_directory), "/");
        directory = fs_absolute(argv[optind]);
        spec->directory = directory;
        spec->work_directory = work_directory;
        spec->argv = argv + optind + 1;
        if (strcmp(spec->argv[0], "--") == 0 && spec->argv[1] != NULL)
            spec->argv++;
        status = run_foreground(spec, arguments.without_cgroups, &err);
        free(directory);
    }
    if (err.kind != ERR_NONE)
        fprintf(stderr, "smtune-shim: %s\n", err.text);
    return status;
}
