/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/engine_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/system/user_name.h"
#include "base/text.h"

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static int64_t read_pid(int fd)
{
    char text[32];
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

    if (length <= 0)
        return 0;
    text[length] = '\0';
    return strtoll(text, NULL, 10);
}

/* Open file description locks: not lost when some other descriptor of the
 * file is closed, and not inherited as held by a child that execs. */
static int try_lock(int fd)
{
    struct flock lock = whole_file(F_WRLCK);

    return fcntl(fd, F_OFD_SETLK, &lock);
}

/* Root may do anything, but what a run executes is not to do so. */
static char *hint(const char *owner)
{
    bool is_number = owner[0] >= '0' && owner[0] <= '9';

    return geteuid() != 0
               ? mem_copy_string("")
               : mem_printf(" (as root, use: sudo -u %s%s%s)",
                            is_number ? "'#" : "", owner, is_number ? "'" : "");
}

/* That the run is another user's. Always -1. */
static int refuse(const char *run_directory, const char *owner, struct err *err)
{
    char *help = hint(owner);
    int64_t pid;

    if (engine_lock_probe(run_directory, &pid, NULL) == 1)
        err_set(err, ERR_BUSY,
                "an engine of user '%s' (pid %" PRId64
                ") works on this run, and only %s may control it%s",
                owner, pid, owner, help);
    else
        err_set(err, ERR_BUSY,
                "it belongs to user '%s', and only %s may control it%s", owner,
                owner, help);
    free(help);
    return -1;
}

char *engine_lock_find_owner(const char *run_directory)
{
    struct stat status;

    return stat(run_directory, &status) == 0 && fs_is_shared(status.st_mode) &&
                   status.st_uid != geteuid()
               ? user_name(status.st_uid)
               : NULL;
}

int engine_lock_check_owner(const char *run_directory, struct err *err)
{
    char *owner = geteuid() != 0 ? engine_lock_find_owner(run_directory) : NULL;
    int result = owner != NULL ? refuse(run_directory, owner, err) : 0;

    free(owner);
    return result;
}

int engine_lock_take(const char *run_directory, struct err *err)
{
    char *owner = engine_lock_find_owner(run_directory);
    int result = owner != NULL ? refuse(run_directory, owner, err)
                               : engine_lock_take_any(run_directory, err);

    free(owner);
    return result;
}

static void report_holder(const char *run_directory, int fd, struct err *err)
{
    char *owner = engine_lock_find_owner(run_directory);

    err_set(err, ERR_BUSY,
            "an engine%s%s%s (pid %" PRId64 ") works on this run",
            owner != NULL ? " of user '" : "", owner != NULL ? owner : "",
            owner != NULL ? "'" : "", read_pid(fd));
    free(owner);
}

int engine_lock_take_any(const char *run_directory, struct err *err)
{
    char *path = fs_join(run_directory, "engine.lock");
    int fd = fs_shared_open(path, O_RDWR, 0600);

    if (fd < 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    } else if (try_lock(fd) != 0) {
        report_holder(run_directory, fd, err);
        close(fd);
        fd = -1;
    } else {
        char text[32];
        int length =
            snprintf(text, sizeof(text), "%" PRId64 "\n", (int64_t)getpid());

        if (ftruncate(fd, 0) != 0 || write(fd, text, (size_t)length) < 0) {
            err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
            close(fd);
            fd = -1;
        }
    }
    free(path);
    return fd;
}

int engine_lock_probe(const char *run_directory, int64_t *pid, struct err *err)
{
    char *path = fs_join(run_directory, "engine.lock");
    struct flock lock = whole_file(F_WRLCK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int result = 0;

    *pid = 0;
    if (fd < 0) {
        if (errno != ENOENT)
            result =
                err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    } else if (fcntl(fd, F_OFD_GETLK, &lock) != 0) {
        result = err_set_errno(err, ERR_FAILED, errno,
                               "cannot read the lock on '%s'", path);
    } else if (lock.l_type != F_UNLCK) {
        *pid = read_pid(fd);
        result = 1;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return result;
}

static int check_run(const char *runs, const char *name, struct err *err)
{
    char *directory = fs_join(runs, name);
    int64_t pid;
    int result = engine_lock_probe(directory, &pid, err);

    free(directory);
    return result != 1
               ? result
               : err_set(err, ERR_BUSY,
                         "run '%s' has an engine (pid %" PRId64
                         "): let it finish, or stop it with the smtune that "
                         "started it",
                         name, pid);
}

int engine_lock_check_none(const char *store_directory, struct err *err)
{
    char *path = fs_join(store_directory, "runs");
    DIR *directory = opendir(path);
    const struct dirent *entry;
    int result = 0;

    if (directory == NULL && errno != ENOENT)
        result =
            err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    while (result == 0 && directory != NULL &&
           (entry = readdir(directory)) != NULL) {
        if (text_is_name(entry->d_name))
            result = check_run(path, entry->d_name, err);
    }
    if (directory != NULL)
        closedir(directory);
    free(path);
    return result;
}
