/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "executors/attempt/shim_status.h"
#include "executors/shim/exit_as.h"

/*
 * Programs that write to a terminal flush each line, so their values are read
 * as they come. The command stays in this process' group, where the shim sends
 * its signals: it gets them itself, and this process outlives it to copy the
 * rest of its output. The terminal controls no session, and standard input
 * stays as it is.
 */

enum { COLUMNS_COUNT = 80, ROWS_COUNT = 24, CHUNK_BYTES = 64 << 10 };

static const int to_command[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP};

static void handle(void (*handler)(int))
{
    for (size_t i = 0; i < sizeof(to_command) / sizeof(to_command[0]); i++)
        signal(to_command[i], handler);
}

/* No echo, and no carriage return before a newline. */
static int open_terminal(int *master, struct err *err)
{
    const struct winsize size = {.ws_row = ROWS_COUNT, .ws_col = COLUMNS_COUNT};
    struct termios modes;
    char path[64];
    int slave = -1;

    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master >= 0 && grantpt(*master) == 0 && unlockpt(*master) == 0 &&
        ptsname_r(*master, path, sizeof(path)) == 0)
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0 || tcgetattr(slave, &modes) != 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot open a pseudo-terminal");
        if (slave >= 0)
            close(slave);
        return -1;
    }
    modes.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    modes.c_oflag &= ~(tcflag_t)OPOST;
    tcsetattr(slave, TCSANOW, &modes);
    ioctl(slave, TIOCSWINSZ, &size);
    return slave;
}

static void write_all(const char *bytes, ssize_t length)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, (size_t)length);

        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            bytes += written;
            length -= written;
        }
    }
}

/* Copies what comes within so many milliseconds, -1: until all writers are
 * gone. False when they are. */
static bool copy(int master, int wait_ms)
{
    struct pollfd file = {.fd = master, .events = POLLIN};
    char chunk[CHUNK_BYTES];
    ssize_t length;
    int ready = poll(&file, 1, wait_ms);

    if (ready == 0)
        return true;
    if (ready < 0)
        return errno == EINTR;
    length = read(master, chunk, sizeof(chunk));
    if (length > 0)
        write_all(chunk, length);
    return length > 0 || (length < 0 && errno == EINTR);
}

/* Processes that the command left behind may hold the terminal open: once it
 * has ended, what is there is copied, and no more is awaited. */
static int copy_until_end(int master, pid_t pid)
{
    enum { LOOK_MS = 100 };
    bool is_open = true;
    int status;

    while (waitpid(pid, &status, is_open ? WNOHANG : 0) == 0)
        is_open = copy(master, LOOK_MS);
    for (struct pollfd file = {.fd = master, .events = POLLIN};
         is_open && poll(&file, 1, 0) > 0;)
        is_open = copy(master, 0);
    return status;
}

int tty_run(char *const *argv, struct err *err)
{
    int master, slave = open_terminal(&master, err);
    pid_t pid;

    if (slave < 0)
        return SHIM_NOT_STARTED;
    handle(SIG_IGN);
    pid = fork();
    if (pid == 0) {
        handle(SIG_DFL);
        dup2(slave, STDOUT_FILENO);
        dup2(slave, STDERR_FILENO);
        execvp(argv[0], argv);
        dprintf(STDERR_FILENO, "smtune-shim: cannot execute '%s': %s\n",
                argv[0], strerror(errno));
        _exit(SHIM_NOT_STARTED);
    }
    close(slave);
    if (pid < 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot fork");
        return SHIM_NOT_STARTED;
    }
    return exit_as(copy_until_end(master, pid));
}
