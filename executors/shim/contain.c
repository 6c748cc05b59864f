/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parent of a container's runtime. It finds the runtime on the machine
 * where the command runs, because only that one has it for sure, and after the
 * lines of `setup`, which may load it.
 *
 * Each signal gets to the command once. The runtime therefore has a process
 * group of its own, so that the signals of the shim reach this process alone.
 * Docker and Podman pass a signal on to the first process of the container.
 * Apptainer does so as well, but its command is among our descendants, where a
 * shim would signal it together with its children. Hence these are signalled
 * here, and Apptainer's own process is not.
 *
 * An image of a registry is pulled once a run, by the first attempt that needs
 * it; others wait for the lock beside it.
 */
#include "executors/shim/contain.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "executors/attempt/setup_failed.h"
#include "executors/attempt/shim_status.h"
#include "executors/container/argv.h"
#include "executors/container/end.h"
#include "executors/machine/process_table.h"
#include "executors/shim/exit_as.h"

/* How Apptainer ends where it cannot start a command, and so do Podman and
 * Docker. */
enum { APPTAINER_FAILED = 255, DOCKER_FAILED = 125, TAIL_BYTES = 1023 };

struct contain {
    struct container container;
    struct container_program program;
    char *name, *id_file;
    char *work_directory;
    char **argv;
    pid_t pid;
};

/* ---- why it cannot start ---- */

/* For the shim, in place of a cause that is the command's own. */
static int refuse(const struct contain *c, struct err *err)
{
    enum { MODE = 0600 };
    char *path = fs_join(c->container.folder, SETUP_FAILED_FILE);

    err_prefix(err, "container");
    if (fs_write_atomic(path, err->text, strlen(err->text), MODE, NULL) == 0)
        err->kind = ERR_NONE;
    free(path);
    return SHIM_NOT_STARTED;
}

/* Whether the last line of the log is a message of Apptainer. */
static bool log_ends_with_fatal(const struct contain *c)
{
    static const char fatal[] = "FATAL:   ";
    char *path = fs_join(c->container.folder, "log");
    struct buf tail = BUF_INIT;
    bool is_fatal = false;

    if (fs_read_tail(path, TAIL_BYTES, &tail) == 0 && tail.length > 0) {
        const char *line;

        if (tail.data[tail.length - 1] == '\n')
            buf_truncate(&tail, tail.length - 1);
        line = strrchr(buf_text(&tail), '\n');
        line = line != NULL ? line + 1 : buf_text(&tail);
        is_fatal = strncmp(line, fatal, strlen(fatal)) == 0;
    }
    buf_clear(&tail);
    free(path);
    return is_fatal;
}

static bool could_not_start(const struct contain *c, int status)
{
    if (!WIFEXITED(status))
        return false;
    if (c->program.runtime->family == FAMILY_APPTAINER)
        return WEXITSTATUS(status) == APPTAINER_FAILED &&
               log_ends_with_fatal(c);
    return WEXITSTATUS(status) == DOCKER_FAILED && !fs_exists(c->id_file);
}

/* ---- the image of a registry ---- */

static int pull(const struct contain *c, const char *path, struct err *err)
{
    char **argv = container_pull_argv(&c->program, c->container.image, path);
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv(argv[0], argv);
        _exit(SHIM_NOT_STARTED);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    words_free(argv);
    if (status == 0)
        return 0;
    unlink(path);
    return err_set(err, ERR_FAILED, "cannot pull image '%s'",
                   c->container.image);
}

static int keep_image(const struct contain *c, struct err *err)
{
    enum { MODE = 0600 };
    const char *kept = c->container.kept;
    char *lock = mem_printf("%s.lock", kept), *part;
    char *folder = mem_copy_bytes(kept, (size_t)(strrchr(kept, '/') - kept));
    int result = fs_make_shared_directories(folder, err), fd = -1;

    if (result == 0)
        fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, MODE);
    if (result == 0 && (fd < 0 || flock(fd, LOCK_EX) != 0))
        result =
            err_set_errno(err, ERR_FAILED, errno, "cannot lock '%s'", lock);
    part = mem_printf("%s.part", kept);
    if (result == 0 && !fs_exists(kept)) {
        unlink(part); /* of one that was killed */
        result = pull(c, part, err);
        if (result == 0 && rename(part, kept) != 0)
            result = err_set_errno(err, ERR_FAILED, errno,
                                   "cannot rename '%s' to '%s'", part, kept);
    }
    if (fd >= 0)
        close(fd);
    free(part);
    free(folder);
    free(lock);
    return result;
}

/* ---- its words ---- */

/* "smtune-RUN-12-1-5f0c81d2-r3": for people the end of the folder's path, and
 * for the machine a hash of all of it. */
static char *make_name(const char *folder)
{
    const char *rank = getenv("RANK"), *at = folder + strlen(folder);
    int slashes = 0;
    char *name;

    while (at > folder && (slashes += at[-1] == '/') < 3)
        at--;
    name =
        mem_printf("smtune-%s-%08x%s%s", at, text_hash(folder, strlen(folder)),
                   rank != NULL ? "-r" : "", rank != NULL ? rank : "");
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.')
            *c = '-';
    return name;
}

/* A line of `setup` may have changed to another folder. */
static void mount_work_directory(struct contain *c)
{
    struct container *container = &c->container;

    for (size_t i = 0; i < container->mount_count; i++)
        if (fs_is_within(c->work_directory, container->mounts[i].target))
            return;
    if (strcmp(c->work_directory, "/") == 0)
        return;
    container_add_mount(
        container,
        (struct container_mount){c->work_directory, c->work_directory, false});
}

static void prepare_words(struct contain *c, char *const *command)
{
    struct container_site site = {
        .program = &c->program,
        .work_directory = c->work_directory,
        .environment = environ,
        .name = c->name,
        .id_file = c->id_file,
    };

    container_site_look(&site);
    c->argv = container_argv(&c->container, &site, command);
}

/* Apptainer has the whole environment, unless an option takes it away; what
 * begins so stays, and goes before the image's own. */
static void prefer_variables(const struct contain *c)
{
    const char *prefix = container_variable_prefix(c->program.runtime);
    struct word_list names = {0};

    for (char *const *at = environ; *at != NULL; at++)
        if (container_passes(&c->container, *at))
            word_list_copy(&names, *at);
    for (size_t i = 0; i < names.count; i++) {
        size_t length = strcspn(names.items[i], "=");
        char *name = mem_printf("%s%.*s", prefix, (int)length, names.items[i]);

        setenv(name, names.items[i] + length + 1, 1);
        free(name);
    }
    words_free(names.items);
}

static int prepare(struct contain *c, char *const *command, struct err *err)
{
    const struct container *container = &c->container;

    if (container_check_image(container->image, err) != 0 ||
        container_find(container->runtime, container->image, getenv("PATH"),
                       &c->program, err) != 0)
        return -1;
    if (c->program.runtime->family == FAMILY_APPTAINER) {
        if (container->kept != NULL && keep_image(c, err) != 0)
            return -1;
        prefer_variables(c);
    } else {
        c->name = make_name(container->folder);
        c->id_file = mem_printf("%s/%s.id", container->folder, c->name);
        unlink(c->id_file);
        if (container_end_note(container->folder, c->name, c->program.path,
                               err) != 0)
            return -1;
    }
    mount_work_directory(c);
    prepare_words(c, command);
    return 0;
}

/* ---- its life ---- */

static const int to_command[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGALRM, SIGTSTP, SIGCONT};

static void forward(const struct contain *c, int number)
{
    if (c->program.runtime->family == FAMILY_APPTAINER &&
        process_signal_descendants(c->pid, number) > 0)
        return;
    kill(c->pid, number);
}

static void become_runtime(const struct contain *c, pid_t parent,
                           const sigset_t *mask)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(SHIM_NOT_STARTED);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(c->argv[0], c->argv);
    dprintf(STDERR_FILENO, "smtune-shim: cannot execute '%s': %s\n", c->argv[0],
            strerror(errno));
    _exit(SHIM_NOT_STARTED);
}

/* Its wait status. */
static int wait_and_forward(const struct contain *c, const sigset_t *signals)
{
    int status = 0;

    while (waitpid(c->pid, &status, WNOHANG) != c->pid) {
        int number = sigwaitinfo(signals, NULL);

        if (number > 0 && number != SIGCHLD)
            forward(c, number);
    }
    return status;
}

static int run(struct contain *c)
{
    pid_t self = getpid();
    sigset_t signals, mask;

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(to_command); i++)
        sigaddset(&signals, to_command[i]);
    prctl(PR_SET_NAME, "smtune-contain"); /* see process_table_warn() */
    sigprocmask(SIG_BLOCK, &signals, &mask);
    c->pid = fork();
    if (c->pid == 0)
        become_runtime(c, self, &mask);
    if (c->pid < 0)
        return W_EXITCODE(SHIM_NOT_STARTED, 0);
    setpgid(c->pid, c->pid);
    return wait_and_forward(c, &signals);
}

/* The first process of a container of theirs tells the end of the command by a
 * signal as a shell does. */
static int command_status(const struct contain *c, int status)
{
    int number = WIFEXITED(status) ? WEXITSTATUS(status) - SHIM_SIGNAL : 0;

    if (c->program.runtime->family == FAMILY_DOCKER && number > 0 &&
        number < _NSIG)
        return W_EXITCODE(0, number);
    return status;
}

/* A container outlives a runtime that was killed. Other ranks have theirs. */
static void clean(const struct contain *c, int status)
{
    if (c->program.runtime->family != FAMILY_DOCKER)
        return;
    if (WIFSIGNALED(status))
        container_end(c->container.folder, c->name);
    container_end_forget(c->container.folder, c->name);
    unlink(c->id_file);
}

static int contain(struct contain *c, char *const *command, struct err *err)
{
    int status;

    if (prepare(c, command, err) != 0)
        return refuse(c, err);
    status = run(c);
    if (could_not_start(c, status)) {
        err_set(err, ERR_FAILED, "%s could not start the command",
                c->program.runtime->name);
        clean(c, status);
        return refuse(c, err);
    }
    clean(c, status);
    return exit_as(command_status(c, status));
}

int contain_run(char **words, struct err *err)
{
    struct contain c = {.pid = -1};
    char **command = container_read(words, &c.container, err);
    int status = SHIM_USAGE;

    c.work_directory = fs_absolute(".");
    if (command != NULL)
        status = contain(&c, command, err);
    words_free(c.argv);
    free(c.work_directory);
    free(c.name);
    free(c.id_file);
    container_clear(&c.container);
    return status;
}
