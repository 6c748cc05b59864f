/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "executors/container/runtime.h"
#include "orchestrator/machine/machine.h"

/* What `PROGRAM --version` prints first: "apptainer version 1.4.5". */

enum { VERSION_MAX = 256, WAIT_MS = 5000 };

static pid_t start(const char *path, int write_fd)
{
    char *name = mem_copy_string(path), *option = mem_copy_string("--version");
    char *const argv[] = {name, option, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, write_fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    if (posix_spawn(&pid, path, &files, NULL, argv, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    free(option);
    free(name);
    return pid;
}

/* Its first line, as far as it comes in time. */
static void read_line(int fd, char line[VERSION_MAX])
{
    struct pollfd file = {.fd = fd, .events = POLLIN};
    size_t length = 0;
    ssize_t got;

    do {
        got = poll(&file, 1, WAIT_MS) > 0
                  ? read(fd, line + length, VERSION_MAX - 1 - length)
                  : 0;
        length += got > 0 ? (size_t)got : 0;
        line[length] = '\0';
    } while (got > 0 && strchr(line, '\n') == NULL);
    line[strcspn(line, "\n")] = '\0';
}

static void read_version(const char *path, char version[VERSION_MAX])
{
    int ends[2];
    pid_t pid;

    version[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid = start(path, ends[1]);
    close(ends[1]);
    read_line(ends[0], version);
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static void add(const char *name, const char *path, struct buf *out)
{
    char version[VERSION_MAX];

    read_version(path, version);
    buf_printf(out, "%s%s (%s)", out->length > 0 ? "; " : "",
               version[0] != '\0' ? version : name, path);
}

void machine_describe_containers(struct buf *out)
{
    for (const struct container_runtime *each = container_runtimes;
         each->name != NULL; each++) {
        struct container_program program;

        if (container_find(each->name, "image", getenv("PATH"), &program,
                           NULL) == 0)
            add(each->name, program.path, out);
    }
}

void machine_describe_conda(struct buf *out)
{
    static const char *const names[] = {"conda", "mamba", "micromamba"};
    char path[PATH_MAX];

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (container_find_program(names[i], getenv("PATH"), path))
            add(names[i], path, out);
}
