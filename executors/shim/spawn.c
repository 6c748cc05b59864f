/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/machine/clone_into.h"
#include "executors/machine/process_table.h"
#include "executors/machine/raw_call.h"

/*
 * The child is made with CLONE_VM: nothing is copied. Until it has executed
 * its command or failed it runs on a stack of its own, calls nothing that
 * allocates or locks, leaves errno alone, and says in shared memory what
 * failed. With CLONE_VFORK besides, this process stands still for so long.
 * Where many commands wait that is time lost, and the child runs beside us:
 * what it works with is a `nest`, which is taken back when the kernel has
 * cleared its `busy`, as it does when the child leaves our memory.
 *
 * All signals are blocked and have their default actions in this process from
 * its start; the child only has to open its mask.
 */

enum {
    CHILD_STACK_BYTES = 256 << 10,
    CLAIM_FD_MIN = 50,
    OWN_AGE_TICKS_MAX = 6000,
    NESTS_MAX = 8
};

/* Where in its preparations a child failed. */
enum stage { STAGE_DIRECTORY, STAGE_FILES, STAGE_CLAIM, STAGE_COMMAND };

struct child {
    const struct spawner *spawner;
    struct attempt_spec spec;
    struct cgroup *group; /* or NULL */
    bool is_in_unified;   /* it was made in the group's, if there is one */
    char **shell_argv;    /* for a script without #!, its [1] still open */
    char *path;           /* room for a candidate's path */
    int claim_fd;
    int log_fd;
    mode_t umask;
    uint64_t before; /* ticks since boot, just before it was made */
    uint64_t start;
    enum stage stage;
    int error; /* errno; 0 when the command was executed */
};

struct child_stack {
    struct child_stack *next;
    struct child child;
    char *stack;
    char **argv, **envp; /* copies */
    char *work_directory;
    pid_t pid;
    pid_t busy; /* not 0 while the child is in our memory */
};

static uint64_t ticks(uint64_t tick_ns)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) /
           tick_ns;
}

/* A process is stamped with the boot clock's tick when it is made. We have
 * just been made ourselves, so our own stamp shows whether that holds here. */
static uint64_t find_tick_ns(uint64_t own_start)
{
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t age = ticks(tick_ns) - own_start;

    return age <= OWN_AGE_TICKS_MAX ? tick_ns : 0;
}

static char *map_stack(void)
{
    char *stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    return stack != MAP_FAILED ? stack : NULL;
}

int spawner_init(struct spawner *spawner, struct err *err)
{
    struct process self;

    memset(spawner, 0, sizeof(*spawner));
    spawner->null_fd = -1;
    spawner->umask = umask(077);
    umask(spawner->umask);
    claim_identify(&spawner->claim);
    spawner->claim.shim_pid = getpid();
    if (process_read(getpid(), &self)) {
        spawner->claim.shim_start = self.start;
        spawner->tick_ns = find_tick_ns(self.start);
    }
    spawner->stack = map_stack();
    if (spawner->stack == NULL)
        return err_set_errno(err, ERR_FAILED, errno, "cannot map a stack");
    spawner->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (spawner->null_fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open /dev/null");
    return 0;
}

/* -- In the child ---------------------------------------------------------*/

/* Our own start time, without a look into /proc where no tick has passed since
 * before we were made. */
static uint64_t start_time(const struct child *child)
{
    uint64_t tick_ns = child->spawner->tick_ns;
    struct process self;

    if (tick_ns != 0 && ticks(tick_ns) == child->before)
        return child->before;
    return process_read(getpid(), &self) ? self.start : 0;
}

static int write_claim(struct child *child)
{
    struct claim claim = child->spawner->claim;
    char line[CLAIM_LINE_MAX];
    size_t length;

    claim.attempt = child->spec.attempt;
    claim.pid = getpid();
    child->start = start_time(child);
    claim.pid_start = child->start;
    claim.time_ms = clock_wall_ms();
    if (child->group != NULL &&
        !cgroup_directory(child->group, claim.cgroup, sizeof(claim.cgroup)))
        claim.cgroup[0] = '\0';
    length = claim_format(&claim, line);
    return raw_call(SYS_write, child->claim_fd, (long)line, (long)length, 0) ==
                   (long)length
               ? 0
               : EIO;
}

/* Leaves 0, 1, 2 and the claim, whose descriptor gets a high number, out of
 * the way of programs that count on the low ones. */
static int arrange_files(struct child *child)
{
    const int files[] = {child->spawner->null_fd, child->log_fd, child->log_fd};
    long result = 0;

    for (int fd = 0; fd <= STDERR_FILENO && result >= 0; fd++)
        result = raw_call(SYS_dup3, files[fd], fd, 0, 0);
    if (result < 0)
        return (int)-result;
    result = raw_call(SYS_fcntl, child->claim_fd, F_DUPFD, CLAIM_FD_MIN, 0);
    if (result < 0)
        result =
            raw_call(SYS_fcntl, child->claim_fd, F_DUPFD, STDERR_FILENO + 1, 0);
    return result < 0 ? (int)-result : 0;
}

static const char *variable(char *const *envp, const char *name)
{
    size_t length = strlen(name);

    for (; *envp != NULL; envp++) {
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    }
    return NULL;
}

static int run_program(const struct child *child, const char *path,
                       char *const *argv)
{
    return (int)-raw_call(SYS_execve, (long)path, (long)argv,
                          (long)child->spec.envp, 0);
}

/* Like execve; a file that is no program by itself is a shell's script. */
static int execute(struct child *child, const char *path)
{
    int error = run_program(child, path, child->spec.argv);

    if (error != ENOEXEC)
        return error;
    memcpy(&child->shell_argv[1], &path, sizeof(path));
    return run_program(child, "/bin/sh", child->shell_argv);
}

/* Tries the command in each directory of the PATH it is given. */
static int execute_on_path(struct child *child, const char *name)
{
    const char *path = variable(child->spec.envp, "PATH");
    size_t name_length = strlen(name);
    int worst = ENOENT;

    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    if (name_length == 0 || name_length > NAME_MAX)
        return name_length == 0 ? ENOENT : ENAMETOOLONG;
    for (;;) {
        size_t length = strcspn(path, ":");
        int error = ENAMETOOLONG;

        if (length + name_length + 2 <= PATH_MAX) {
            memcpy(child->path, path, length);
            child->path[length] = '/';
            memcpy(child->path + length + (length > 0), name, name_length + 1);
            error = execute(child, child->path);
        }
        if (error == EACCES)
            worst = EACCES;
        else if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG)
            return error;
        if (path[length] == '\0')
            return worst;
        path += length + 1;
    }
}

NORETURN static void fail(struct child *child, enum stage stage, int error)
{
    child->stage = stage;
    child->error = error;
    for (;;)
        raw_call(SYS_exit_group, 127, 0, 0, 0);
}

/* Shares the memory of its parent. */
static int run_child(void *argument)
{
    struct child *child = argument;
    const char *name = child->spec.argv[0];
    const uint64_t none = 0;
    int error;

    raw_call(SYS_setsid, 0, 0, 0, 0);
    if (child->umask != child->spawner->umask)
        raw_call(SYS_umask, (long)child->umask, 0, 0, 0);
    if (child->spawner->ends_with_us)
        raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    error =
        (int)-raw_call(SYS_chdir, (long)child->spec.work_directory, 0, 0, 0);
    if (error != 0)
        fail(child, STAGE_DIRECTORY, error);
    error = arrange_files(child);
    if (error != 0)
        fail(child, STAGE_FILES, error);
    if (child->group != NULL)
        cgroup_enter(child->group, child->is_in_unified);
    error = write_claim(child);
    if (error != 0)
        fail(child, STAGE_CLAIM, error);
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof(none));
    fail(child, STAGE_COMMAND,
         strchr(name, '/') != NULL ? execute(child, name)
                                   : execute_on_path(child, name));
}

/* -- In the shim ----------------------------------------------------------*/

static size_t count_strings(char *const *strings)
{
    size_t count = 0;

    while (strings[count] != NULL)
        count++;
    return count;
}

/* Sets a variable in an array that has room for one more. */
static void set_variable(char **envp, char *assignment)
{
    size_t length = strcspn(assignment, "=") + 1;

    while (*envp != NULL && strncmp(*envp, assignment, length) != 0)
        envp++;
    if (*envp == NULL)
        envp[1] = NULL;
    *envp = assignment;
}

/* The process was there, so the machine had memory for it: what it lacks is
 * its own limit's, and no later attempt has more. */
static int explain_memory(const struct child *child, struct err *err)
{
    char limit[32];

    units_format_bytes(child->spec.memory_bytes, limit, sizeof(limit));
    return err_set(err, ERR_FAILED,
                   "cannot execute '%.120s' within its memory limit of %s",
                   child->spec.argv[0], limit);
}

static int explain(const struct child *child, struct err *err)
{
    const char *name = child->spec.argv[0];
    const char *path = variable(child->spec.envp, "PATH");

    switch (child->stage) {
    case STAGE_DIRECTORY:
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot change to directory '%.120s'",
                             child->spec.work_directory);
    case STAGE_FILES:
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot set up the files of the command");
    case STAGE_CLAIM:
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot write the claim");
    case STAGE_COMMAND:
        break;
    }
    if (child->error == ENOMEM && child->spec.memory_bytes > 0)
        return explain_memory(child, err);
    if (child->error != ENOENT)
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot execute '%.120s'", name);
    if (strchr(name, '/') == NULL)
        return err_set(err, ERR_FAILED,
                       "no program '%.60s' in the PATH: %.100s", name,
                       path != NULL ? path : "(not set)");
    return err_set(err, ERR_FAILED,
                   "no program '%.120s', or its interpreter is missing", name);
}

static char *stack_of(const struct child *child,
                      const struct child_stack *stack)
{
    return stack != NULL ? stack->stack : child->spawner->stack;
}

/* Right in its group, beside us or not; -1 where that cannot be. */
static pid_t create_in_group(struct child *child, struct child_stack *stack)
{
    const struct clone_into into = {.run = run_child,
                                    .argument = child,
                                    .stack = stack_of(child, stack),
                                    .stack_bytes = CHILD_STACK_BYTES,
                                    .busy =
                                        stack != NULL ? &stack->busy : NULL};
    int group_fd = cgroup_open(child->group);
    pid_t pid;

    if (group_fd < 0)
        return -1;
    child->is_in_unified = true;
    pid = clone_into(group_fd, &into);
    if (pid < 0)
        child->is_in_unified = false;
    close(group_fd);
    return pid;
}

/* Beside us, in no group; -1 where that cannot be. */
static pid_t create_beside(struct child *child, struct child_stack *nest)
{
    return clone(run_child, nest->stack + CHILD_STACK_BYTES,
                 CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD, child, NULL, NULL,
                 &nest->busy);
}

/* In the nest, which runs beside us; or NULL for one that we wait for, as we do
 * for one that has to enter its group by itself, and where a process is only
 * emulated (qemu): there only a thread may share memory and go on beside us. */
static pid_t create_process(struct child *child, struct child_stack *nest)
{
    const struct spawner *spawner = child->spawner;
    char *stack = stack_of(child, nest);
    pid_t pid = -1;

    FRESH_STACK(stack, CHILD_STACK_BYTES);
    if (spawner->tick_ns != 0)
        child->before = ticks(spawner->tick_ns);
    if (nest != NULL)
        nest->busy = 1;
    if (child->group != NULL)
        pid = create_in_group(child, nest);
    else if (nest != NULL)
        pid = create_beside(child, nest);
    if (pid > 0)
        return pid;
    if (nest != NULL)
        nest->busy = 0;
    return clone(run_child, stack + CHILD_STACK_BYTES,
                 CLONE_VM | CLONE_VFORK | SIGCHLD, child);
}

/* Where the system has no process or memory to spare, some will be free soon:
 * it is asked again for a second. */
static pid_t launch(struct child *child, struct child_stack *stack,
                    struct err *err)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    pid_t pid = create_process(child, stack);

    for (int i = 0; pid < 0 && i < 20; i++) {
        nanosleep(&pause, NULL);
        pid = create_process(child, stack);
    }
    if (pid < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create a process");
    if (stack != NULL || child->error == 0)
        return pid;
    waitpid(pid, NULL, 0);
    return explain(child, err);
}

static int open_log(const char *directory, struct err *err)
{
    char path[PATH_MAX];
    int fd = -1;

    if ((size_t)snprintf(path, sizeof(path), "%s/log", directory) <
        sizeof(path))
        fd = fs_shared_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0600);
    if (fd < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot open '%.200s/log'",
                      directory);
    return fd;
}

/* In a folder that a group shares, which the mode of the log shows, the group
 * may do with the command's files what their user may. But only where the files
 * that the command makes elsewhere get that group, or one of this user alone.
 */
static mode_t umask_beside(const struct spawner *spawner, int log_fd)
{
    gid_t group = getegid();
    struct stat log;

    if (fstat(log_fd, &log) != 0 || (log.st_mode & S_IWGRP) == 0 ||
        (group != log.st_gid && group != geteuid()))
        return spawner->umask;
    return (spawner->umask & ~(mode_t)S_IRWXG) |
           (spawner->umask & S_IRWXU) >> 3;
}

/* The strings in one piece of memory with the array. */
static char **copy_strings(char *const *strings)
{
    size_t count = count_strings(strings);
    size_t bytes = (count + 1) * sizeof(*strings);
    char **copy, *at;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(strings[i]) + 1;
    copy = mem_alloc(bytes);
    at = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        copy[i] = at;
        at = stpcpy(at, strings[i]) + 1;
    }
    copy[count] = NULL;
    return copy;
}

/* The spec's environment with what the shim adds. */
static char **extend_environment(const struct attempt_spec *spec,
                                 const char *gpus)
{
    static char order[] = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
    size_t count = count_strings(spec->envp);
    char **all = mem_array(count + 4, sizeof(*all)), **copy;
    char *claim = mem_printf("SMTUNE_CLAIM=%s/claim", spec->directory);
    char *devices =
        gpus != NULL ? mem_printf("CUDA_VISIBLE_DEVICES=%s", gpus) : NULL;

    memcpy(all, spec->envp, count * sizeof(*all));
    set_variable(all, claim);
    if (devices != NULL) {
        set_variable(all, devices);
        if (variable(all, "CUDA_DEVICE_ORDER") == NULL)
            set_variable(all, order);
    }
    copy = copy_strings(all);
    free(all);
    free(claim);
    free(devices);
    return copy;
}

/* -- Nests ----------------------------------------------------------------*/

static bool is_busy(const struct child_stack *stack)
{
    return __atomic_load_n(&stack->busy, __ATOMIC_ACQUIRE) != 0;
}

/* Gives back all but the stack. */
static void child_stack_empty(struct child_stack *stack)
{
    free(stack->argv);
    free(stack->envp);
    free(stack->work_directory);
    free(stack->child.shell_argv);
    free(stack->child.path);
    stack->argv = stack->envp = stack->child.shell_argv = NULL;
    stack->work_directory = stack->child.path = NULL;
    stack->pid = 0;
}

/* An empty one; NULL when there are too many, or no memory for its stack. */
static struct child_stack *child_stack_take(struct spawner *spawner)
{
    struct child_stack *stack;
    int count = 0;

    for (stack = spawner->nests; stack != NULL; stack = stack->next, count++) {
        if (stack->pid != 0 && !is_busy(stack) && stack->child.error == 0)
            child_stack_empty(stack);
        if (stack->pid == 0)
            return stack;
    }
    if (count == NESTS_MAX)
        return NULL;
    stack = mem_zero(sizeof(*stack));
    stack->stack = map_stack();
    if (stack->stack == NULL) {
        free(stack);
        return NULL;
    }
    stack->next = spawner->nests;
    spawner->nests = stack;
    return stack;
}

static struct child_stack *child_stack_of(struct spawner *spawner, pid_t pid)
{
    struct child_stack *stack = spawner->nests;

    while (stack != NULL && stack->pid != pid)
        stack = stack->next;
    return stack;
}

static void child_stack_await(struct child_stack *stack)
{
    pid_t busy;

    while ((busy = __atomic_load_n(&stack->busy, __ATOMIC_ACQUIRE)) != 0)
        syscall(SYS_futex, &stack->busy, FUTEX_WAIT, busy, NULL);
}

void spawn_await(struct spawner *spawner, pid_t pid)
{
    struct child_stack *stack = child_stack_of(spawner, pid);

    if (stack != NULL)
        child_stack_await(stack);
}

int spawn_result(struct spawner *spawner, pid_t pid, struct err *err)
{
    struct child_stack *stack = child_stack_of(spawner, pid);
    int result;

    if (stack == NULL)
        return 0;
    child_stack_await(stack);
    result = stack->child.error != 0 ? explain(&stack->child, err) : 0;
    child_stack_empty(stack);
    return result;
}

void spawner_clear(struct spawner *spawner)
{
    while (spawner->nests != NULL) {
        struct child_stack *stack = spawner->nests;

        spawner->nests = stack->next;
        if (stack->pid != 0)
            child_stack_await(stack);
        child_stack_empty(stack);
        munmap(stack->stack, CHILD_STACK_BYTES);
        free(stack);
    }
    if (spawner->null_fd >= 0)
        close(spawner->null_fd);
    if (spawner->stack != NULL)
        munmap(spawner->stack, CHILD_STACK_BYTES);
}

/* -- The interface --------------------------------------------------------*/

static void fill_child(struct child_stack *stack,
                       const struct attempt_spec *spec, const char *gpus)
{
    static char shell[] = "sh";
    struct child *child = &stack->child;
    size_t arguments = count_strings(spec->argv);

    stack->argv = copy_strings(spec->argv);
    stack->envp = extend_environment(spec, gpus);
    stack->work_directory = mem_copy_string(spec->work_directory);
    child->spec = *spec;
    child->spec.argv = stack->argv;
    child->spec.envp = stack->envp;
    child->spec.work_directory = stack->work_directory;
    child->shell_argv = mem_array(arguments + 2, sizeof(*child->shell_argv));
    child->shell_argv[0] = shell;
    memcpy(child->shell_argv + 2, stack->argv + 1,
           arguments * sizeof(*child->shell_argv));
    child->path = mem_alloc(PATH_MAX);
}

/* The same for the parent, which may be here before the child was, or where an
 * emulated child has a copy of our memory. */
static uint64_t start_of(const struct child *child, pid_t pid)
{
    uint64_t tick_ns = child->spawner->tick_ns;
    struct process process;

    if (ticks(tick_ns) == child->before)
        return child->before;
    return process_read(pid, &process) ? process.start : 0;
}

static pid_t start_in(struct child_stack *stack, bool overlaps,
                      uint64_t *pid_start, struct err *err)
{
    struct child *child = &stack->child;
    pid_t pid = launch(child, overlaps ? stack : NULL, err);

    if (pid >= 0)
        *pid_start =
            overlaps || child->start == 0 ? start_of(child, pid) : child->start;
    if (overlaps && pid > 0)
        stack->pid = pid;
    else
        child_stack_empty(stack);
    return pid;
}

pid_t spawn_command(struct spawner *spawner, const struct attempt_spec *spec,
                    const struct spawn_place *place, uint64_t *pid_start,
                    struct err *err)
{
    struct child_stack waited = {.pid = 0}, *nest = NULL;
    int claim_fd = claim_create(spec->directory, err);
    int log_fd = claim_fd >= 0 ? open_log(spec->directory, err) : -1;
    pid_t pid = -1;

    if (log_fd >= 0) {
        if (HAS_RAW_CALLS && place->overlaps && spawner->tick_ns != 0 &&
            (place->group == NULL || cgroup_is_unified(place->group)))
            nest = child_stack_take(spawner);
        if (nest == NULL)
            nest = &waited;
        nest->child = (struct child){.spawner = spawner,
                                     .group = place->group,
                                     .claim_fd = claim_fd,
                                     .log_fd = log_fd,
                                     .umask = umask_beside(spawner, log_fd)};
        fill_child(nest, spec, place->gpus);
        pid = start_in(nest, nest != &waited, pid_start, err);
        close(log_fd);
    }
    if (claim_fd >= 0)
        close(claim_fd);
    return pid;
}
