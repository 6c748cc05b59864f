/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drive/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"

int detach_fork(struct detach *detach, struct err *err)
{
    int ends[2];

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot make a pipe");
    detach->child = fork();
    if (detach->child < 0) {
        close(ends[0]);
        close(ends[1]);
        return err_set_errno(err, ERR_FAILED, errno, "cannot fork");
    }
    if (detach->child == 0) {
        setsid();
        signal(SIGHUP, SIG_IGN);
        close(ends[0]);
        detach->pipe = ends[1];
    } else {
        close(ends[1]);
        detach->pipe = ends[0];
    }
    return 0;
}

int detach_tell(struct detach *detach, const char *line, const char *log_path,
                struct err *err)
{
    int log = fs_shared_open(log_path, O_WRONLY | O_APPEND, 0600);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (log < 0 || null < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open %s",
                             log < 0 ? log_path : "/dev/null");
    if (write(detach->pipe, line, strlen(line)) < 0)
        return err_set_errno(err, ERR_FAILED, errno, "lost the terminal");
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(null);
    close(log);
    close(detach->pipe);
    return 0;
}

int detach_wait(struct detach *detach)
{
    struct buf line = BUF_INIT;
    char chunk[512];
    ssize_t length;
    int status = 0;

    do {
        length = read(detach->pipe, chunk, sizeof(chunk));
        if (length > 0)
            buf_add(&line, chunk, (size_t)length);
    } while (length > 0 || (length < 0 && errno == EINTR));
    close(detach->pipe);
    if (line.length > 0)
        printf("%s", buf_text(&line));
    else if (waitpid(detach->child, &status, 0) == detach->child)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    buf_clear(&line);
    return status;
}
