/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"

/*
 * The child is made with CLONE_VM | CLONE_VFORK: this process stands still
 * until the child has executed its command or failed, so the child can say in
 * shared memory what failed. All signals are blocked meanwhile: a handler
 * would run in the memory of both.
 */

enum { STACK_BYTES = 256 << 10 };

struct child {
    const struct rank_spec *spec;
    pid_t parent;
    sigset_t mask;
    int error; /* errno; 0 when the command was executed */
};

static int run_child(void *argument)
{
    struct child *child = argument;
    const struct rank_spec *spec = child->spec;

    setsid();
    if (spec->cpus != NULL)
        sched_setaffinity(0, sizeof(*spec->cpus), spec->cpus);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == child->parent && dup2(spec->in_fd, STDIN_FILENO) >= 0 &&
        dup2(spec->out_fd, STDOUT_FILENO) >= 0 &&
        dup2(spec->err_fd, STDERR_FILENO) >= 0) {
        sigprocmask(SIG_SETMASK, &child->mask, NULL);
        execvpe(spec->argv[0], spec->argv, spec->envp);
    }
    child->error = errno;
    return 127;
}

/* A shell's script without #! is executed with its words on the stack. */
static size_t stack_bytes(char *const *argv)
{
    size_t count = 0;

    while (argv[count] != NULL)
        count++;
    return STACK_BYTES + count * sizeof(*argv);
}

static pid_t create_process(struct child *child)
{
    size_t bytes = stack_bytes(child->spec->argv) & ~(size_t)15;
    char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    sigset_t all;
    pid_t pid;
    int error;

    if (stack == MAP_FAILED)
        return -1;
    FRESH_STACK(stack, bytes);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &child->mask);
    pid = clone(run_child, stack + bytes, CLONE_VM | CLONE_VFORK | SIGCHLD,
                child);
    error = errno;
    sigprocmask(SIG_SETMASK, &child->mask, NULL);
    munmap(stack, bytes);
    errno = error;
    return pid;
}

pid_t rank_spawn(const struct rank_spec *spec, struct err *err)
{
    struct child child = {.spec = spec, .parent = getpid()};
    pid_t pid = create_process(&child);

    if (pid < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create a process");
    if (child.error == 0)
        return pid;
    waitpid(pid, NULL, 0);
    return err_set_errno(err,
                         child.error == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
                         child.error, "cannot execute '%s'", spec->argv[0]);
}
