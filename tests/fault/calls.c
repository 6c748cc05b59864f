/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: malloc calloc realloc clock_gettime */
/* wrap: fork clone clone_into posix_spawn */
/*
 * The calls themselves. What SQLite and libuv make too is defined here under
 * its own name, before libc's, as the bare system call; what only our own
 * objects make is wrapped by the linker (--wrap).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executors/machine/clone_into.h"
#include "tests/fault/points.h"

static bool fails(enum point_call call)
{
    return fault_fails(point_reach(call, true));
}

static bool lacks_memory(void)
{
    return fault_fails(point_reach(POINT_MALLOC, false));
}

/* Files and sockets can fail; a loop's own pipes and counters never do. */
static const struct fault *transfer(enum point_call call, int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0 ||
        (!S_ISREG(status.st_mode) && !S_ISSOCK(status.st_mode)))
        return NULL;
    return point_reach(call, call != POINT_READ);
}

/* -- Files, under their own names -----------------------------------------*/

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if (fault_fails(
            point_reach(POINT_OPEN, (flags & (O_CREAT | O_TRUNC)) != 0)))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

static mode_t mode_of(int flags, va_list args)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_at(folder, path, flags, mode);
}

ssize_t read(int fd, void *bytes, size_t length)
{
    const struct fault *fault = transfer(POINT_READ, fd);

    if (fault_fails(fault))
        return -1;
    return syscall(SYS_read, fd, bytes, fault_shorten(fault, length));
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at)
{
    const struct fault *fault = transfer(POINT_READ, fd);

    if (fault_fails(fault))
        return -1;
    return syscall(SYS_pread64, fd, bytes, fault_shorten(fault, length), at);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at)
{
    return pread64(fd, bytes, length, at);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags)
{
    const struct fault *fault = transfer(POINT_READ, fd);

    if (fault_fails(fault))
        return -1;
    return syscall(SYS_recvfrom, fd, bytes, fault_shorten(fault, length), flags,
                   NULL, NULL);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    const struct fault *fault = transfer(POINT_WRITE, fd);

    if (fault_fails(fault))
        return -1;
    return syscall(SYS_write, fd, bytes, fault_shorten(fault, length));
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at)
{
    const struct fault *fault = transfer(POINT_WRITE, fd);

    if (fault_fails(fault))
        return -1;
    return syscall(SYS_pwrite64, fd, bytes, fault_shorten(fault, length), at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return pwrite64(fd, bytes, length, at);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    const struct fault *fault = transfer(POINT_SEND, fd);

    if (fault_fails(fault))
        return -1;
    return syscall(SYS_sendto, fd, bytes, fault_shorten(fault, length), flags,
                   NULL, 0);
}

int fsync(int fd)
{
    return fails(POINT_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails(POINT_FSYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t length)
{
    return fails(POINT_TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

int renameat(int from_folder, const char *from, int folder, const char *to)
{
    return fails(POINT_RENAME)
               ? -1
               : (int)syscall(SYS_renameat, from_folder, from, folder, to);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int folder, const char *path, int flags)
{
    return fails(POINT_REMOVE)
               ? -1
               : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    return fails(POINT_MKDIR) ? -1
                              : (int)syscall(SYS_mkdirat, folder, path, mode);
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* -- Calls of our own objects, by the linker's --wrap ----------------------*/

/* What the linker calls the originals and the wrappers. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t bytes);
int __real_clock_gettime(clockid_t id, struct timespec *time);
pid_t __real_fork(void);
int __real_clone(int (*start)(void *), void *stack, int flags, void *argument,
                 ...);
pid_t __real_clone_into(int group_fd, const struct clone_into *child);
int __real_posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[],
                       char *const envp[]);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t bytes);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
pid_t __wrap_fork(void);
int __wrap_clone(int (*start)(void *), void *stack, int flags, void *argument);
pid_t __wrap_clone_into(int group_fd, const struct clone_into *child);
int __wrap_posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[],
                       char *const envp[]);

void *__wrap_malloc(size_t bytes)
{
    return lacks_memory() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return lacks_memory() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return lacks_memory() ? NULL : __real_realloc(old, bytes);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    int result = __real_clock_gettime(id, time);

    if (id == CLOCK_REALTIME)
        time->tv_sec += fault_jump_s(point_reach(POINT_CLOCK, false));
    return result;
}

pid_t __wrap_fork(void)
{
    pid_t pid = fails(POINT_SPAWN) ? -1 : __real_fork();

    if (pid == 0)
        point_forked();
    return pid;
}

int __wrap_clone(int (*start)(void *), void *stack, int flags, void *argument)
{
    return fails(POINT_SPAWN) ? -1
                              : __real_clone(start, stack, flags, argument);
}

pid_t __wrap_clone_into(int group_fd, const struct clone_into *child)
{
    return fails(POINT_SPAWN) ? -1 : __real_clone_into(group_fd, child);
}

int __wrap_posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[],
                       char *const envp[])
{
    return fails(POINT_SPAWN)
               ? errno
               : __real_posix_spawn(pid, path, actions, attributes, argv, envp);
}
