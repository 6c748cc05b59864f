/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executors/process_table.h"

/*
 * The child is made with CLONE_VM | CLONE_VFORK: nothing is copied, and this
 * process stands still until the child has executed its command or failed,
 * so the child can say in shared memory what failed. Until then it runs on a
 * stack of its own and calls nothing that allocates or locks. All signals are
 * blocked and have their default actions in this process from its start; the
 * child only has to open its mask.
 */

enum {
    CHILD_STACK_BYTES = 256 << 10,
    CLAIM_FD_MIN = 50,
    OWN_AGE_TICKS_MAX = 500
};

/* Where in its preparations a child failed. */
enum stage { STAGE_DIRECTORY, STAGE_FILES, STAGE_CLAIM, STAGE_COMMAND };

struct child {
    const struct spawner *spawner;
    const struct attempt_spec *spec;
    struct cgroup *group; /* or NULL */
    char **envp;
    char **shell_argv; /* for a script without #!, its [1] still open */
    char *path;        /* room for a candidate's path */
    int claim_fd;
    int log_fd;
    uint64_t before; /* ticks since boot, just before it was made */
    uint64_t start;
    enum stage stage;
    int error; /* errno; 0 when the command was executed */
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

int spawner_init(struct spawner *spawner, struct err *err)
{
    struct process self;

    memset(spawner, 0, sizeof(*spawner));
    spawner->null_fd = -1;
    claim_identify(&spawner->claim);
    spawner->claim.shim_pid = getpid();
    if (process_read(getpid(), &self)) {
        spawner->claim.shim_start = self.start;
        spawner->tick_ns = find_tick_ns(self.start);
    }
    spawner->stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (spawner->stack == MAP_FAILED)
        return err_set_errno(err, ERR_FAILED, errno, "cannot map a stack");
    spawner->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (spawner->null_fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open /dev/null");
    return 0;
}

void spawner_clear(struct spawner *spawner)
{
    if (spawner->null_fd >= 0)
        close(spawner->null_fd);
    if (spawner->stack != NULL && spawner->stack != MAP_FAILED)
        munmap(spawner->stack, CHILD_STACK_BYTES);
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

    claim.attempt = child->spec->attempt;
    claim.pid = getpid();
    child->start = start_time(child);
    claim.pid_start = child->start;
    claim.time_ms = clock_wall_ms();
    if (child->group != NULL &&
        !cgroup_directory(child->group, claim.cgroup, sizeof(claim.cgroup)))
        claim.cgroup[0] = '\0';
    length = claim_format(&claim, line);
    return write(child->claim_fd, line, length) == (ssize_t)length ? 0 : -1;
}

/* Leaves 0, 1, 2 and the claim, whose descriptor gets a high number, out of
 * the way of programs that count on the low ones. */
static int arrange_files(struct child *child)
{
    if (dup2(child->spawner->null_fd, STDIN_FILENO) < 0 ||
        dup2(child->log_fd, STDOUT_FILENO) < 0 ||
        dup2(child->log_fd, STDERR_FILENO) < 0)
        return -1;
    if (fcntl(child->claim_fd, F_DUPFD, CLAIM_FD_MIN) >= 0 ||
        fcntl(child->claim_fd, F_DUPFD, STDERR_FILENO + 1) >= 0)
        return 0;
    return -1;
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

/* Like execve; a file that is no program by itself is a shell's script. */
static int execute(struct child *child, const char *path)
{
    execve(path, child->spec->argv, child->envp);
    if (errno != ENOEXEC)
        return errno;
    memcpy(&child->shell_argv[1], &path, sizeof(path));
    execve("/bin/sh", child->shell_argv, child->envp);
    return errno;
}

/* Tries the command in each directory of the PATH it is given. */
static int execute_on_path(struct child *child, const char *name)
{
    const char *path = variable(child->envp, "PATH");
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
    _exit(127);
}

/* Shares the memory of its parent, which waits. */
static int run_child(void *argument)
{
    struct child *child = argument;
    const char *name = child->spec->argv[0];
    sigset_t none;

    setsid();
    if (chdir(child->spec->work_directory) != 0)
        fail(child, STAGE_DIRECTORY, errno);
    if (arrange_files(child) != 0)
        fail(child, STAGE_FILES, errno);
    if (child->group != NULL)
        cgroup_enter(child->group);
    if (write_claim(child) != 0)
        fail(child, STAGE_CLAIM, errno);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
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

static int explain(const struct child *child, struct err *err)
{
    const char *name = child->spec->argv[0];
    const char *path = variable(child->envp, "PATH");

    switch (child->stage) {
    case STAGE_DIRECTORY:
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot enter directory '%.120s'",
                             child->spec->work_directory);
    case STAGE_FILES:
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot arrange the files of the command");
    case STAGE_CLAIM:
        return err_set_errno(err, ERR_FAILED, child->error,
                             "cannot write the claim");
    case STAGE_COMMAND:
        break;
    }
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

static pid_t create_process(struct child *child)
{
    const struct spawner *spawner = child->spawner;

    FRESH_STACK(spawner->stack, CHILD_STACK_BYTES);
    if (spawner->tick_ns != 0)
        child->before = ticks(spawner->tick_ns);
    return clone(run_child, spawner->stack + CHILD_STACK_BYTES,
                 CLONE_VM | CLONE_VFORK | SIGCHLD, child);
}

/* Where the system has no process or memory to spare, some will be free soon:
 * it is asked again for a second. */
static pid_t launch(struct child *child, struct err *err)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    pid_t pid = create_process(child);

    for (int i = 0; pid < 0 && i < 20; i++) {
        nanosleep(&pause, NULL);
        pid = create_process(child);
    }
    if (pid < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create a process");
    if (child->error == 0)
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
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                  0600);
    if (fd < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot open '%.200s/log'",
                      directory);
    return fd;
}

/* Both arrays of strings that a child may need besides its spec's own. */
static void prepare_strings(struct child *child, char *claim, char *devices)
{
    static char shell[] = "sh", order[] = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
    const struct attempt_spec *spec = child->spec;
    size_t variables = count_strings(spec->envp);
    size_t arguments = count_strings(spec->argv);

    child->envp = mem_array(variables + 4, sizeof(*child->envp));
    memcpy(child->envp, spec->envp, variables * sizeof(*child->envp));
    set_variable(child->envp, claim);
    if (devices != NULL) {
        set_variable(child->envp, devices);
        if (variable(child->envp, "CUDA_DEVICE_ORDER") == NULL)
            set_variable(child->envp, order);
    }
    child->shell_argv = mem_array(arguments + 2, sizeof(*child->shell_argv));
    child->shell_argv[0] = shell;
    memcpy(child->shell_argv + 2, spec->argv + 1,
           arguments * sizeof(*child->shell_argv));
    child->path = mem_alloc(PATH_MAX);
}

pid_t spawn_command(struct spawner *spawner, const struct attempt_spec *spec,
                    const struct spawn_place *place, uint64_t *pid_start,
                    struct err *err)
{
    struct child child = {
        .spawner = spawner, .spec = spec, .group = place->group, .log_fd = -1};
    char *claim = NULL, *devices = NULL;
    pid_t pid = -1;

    child.claim_fd = claim_create(spec->directory, err);
    if (child.claim_fd < 0)
        return -1;
    child.log_fd = open_log(spec->directory, err);
    if (child.log_fd >= 0) {
        claim = mem_printf("SMTUNE_CLAIM=%s/claim", spec->directory);
        if (place->gpus != NULL)
            devices = mem_printf("CUDA_VISIBLE_DEVICES=%s", place->gpus);
        prepare_strings(&child, claim, devices);
        pid = launch(&child, err);
        *pid_start = child.start;
        close(child.log_fd);
    }
    close(child.claim_fd);
    free(claim);
    free(devices);
    free(child.envp);
    free(child.shell_argv);
    free(child.path);
    return pid;
}
