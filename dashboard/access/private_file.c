/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/access/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

static bool is_private(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_uid == geteuid() &&
           (file.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

ssize_t private_file_read(const char *path, char *text, size_t size)
{
    int fd =
        open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ssize_t length;
    int saved;

    if (fd < 0)
        return -1;
    errno = 0;
    length = is_private(fd) ? read(fd, text, size - 1) : -1;
    saved = errno;
    close(fd);
    errno = saved;
    if (length >= 0)
        text[length] = '\0';
    return length;
}

int private_file_write(const char *path, const char *line, struct err *err)
{
    char *text = mem_printf("%s\n", line);
    int status = fs_write_atomic(path, text, strlen(text), 0600, err);

    free(text);
    return status;
}
