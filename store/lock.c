/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "store/sharing.h"

enum { PID_COLUMNS = 20, FIRST_PAUSE_US = 200, LONGEST_PAUSE_US = 20000 };

int lock_open(const char *directory, struct err *err)
{
    char *path = fs_join(directory, "smtune.lock");
    int fd = store_open_file(directory, path, O_RDWR);

    if (fd < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    free(path);
    return fd;
}

/* Only for the message of who has to wait: losing it harms nobody. */
static void write_pid(int fd)
{
    char text[PID_COLUMNS + 2];
    ssize_t written;

    snprintf(text, sizeof(text), "%-*ld\n", PID_COLUMNS, (long)getpid());
    written = pwrite(fd, text, PID_COLUMNS + 1, 0);
    (void)written;
}

static long read_pid(int fd)
{
    char text[PID_COLUMNS + 2] = "";

    if (pread(fd, text, PID_COLUMNS + 1, 0) < 1)
        return 0;
    return strtol(text, NULL, 10);
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

int lock_take(int fd, int64_t wait_ms, struct err *err)
{
    int64_t start_ms = clock_monotonic_ms();
    long us = FIRST_PAUSE_US;

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set_errno(err, ERR_FAILED, errno, "cannot lock");
        if (clock_monotonic_ms() - start_ms >= wait_ms)
            return err_set(err, ERR_BUSY,
                           "process %ld has been writing to it for %" PRId64
                           " ms",
                           read_pid(fd), wait_ms);
        pause_us(us);
        us = us * 2 < LONGEST_PAUSE_US ? us * 2 : LONGEST_PAUSE_US;
    }
    write_pid(fd);
    return 0;
}

void lock_release(int fd)
{
    flock(fd, LOCK_UN);
}

/* A line of /proc/locks: "1: POSIX  ADVISORY  WRITE 4711 08:01:1234 120 120";
 * the end may be "EOF". */
static long holder_of_line(const char *line, const struct stat *file,
                           int64_t byte)
{
    unsigned major_number, minor_number;
    unsigned long inode;
    long pid, start;
    char end[24];

    if (strstr(line, "->") != NULL ||
        sscanf(line, "%*s %*s %*s WRITE %ld %x:%x:%lu %ld %23s", &pid,
               &major_number, &minor_number, &inode, &start, end) != 6 ||
        inode != file->st_ino || byte < start)
        return 0;
    return strcmp(end, "EOF") == 0 || byte <= strtoll(end, NULL, 10) ? pid : 0;
}

long lock_find_holder(const char *path, int64_t byte)
{
    FILE *locks = fopen("/proc/locks", "re");
    struct stat file;
    char line[256];
    long pid = 0;

    while (locks != NULL && pid == 0 && stat(path, &file) == 0 &&
           fgets(line, sizeof(line), locks) != NULL)
        pid = holder_of_line(line, &file, byte);
    if (locks != NULL)
        fclose(locks);
    return pid > 0 ? pid : 0;
}
