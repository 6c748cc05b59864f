/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/setup_failed.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL_SIZE = 1024 };

/* The last bytes of a file of the directory, as text; -1: it cannot be read. */
static int read_tail(const char *directory, const char *name,
                     char tail[TAIL_SIZE])
{
    char path[PATH_MAX];
    struct stat info;
    ssize_t length = -1;
    int fd;

    if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= PATH_MAX)
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        off_t rest = TAIL_SIZE - 1;

        length = pread(fd, tail, TAIL_SIZE - 1,
                       info.st_size > rest ? info.st_size - rest : 0);
    }
    close(fd);
    if (length < 0)
        return -1;
    tail[length] = '\0';
    return 0;
}

/* The last line that is not empty, without control characters. */
static const char *last_line(char *tail)
{
    size_t length = strlen(tail);
    char *line;

    while (length > 0 && strchr("\r\n\t ", tail[length - 1]) != NULL)
        tail[--length] = '\0';
    line = strrchr(tail, '\n');
    line = line != NULL ? line + 1 : tail;
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    return line;
}

bool setup_failed_read(const char *directory, char *text, size_t size)
{
    char failed[TAIL_SIZE], log[TAIL_SIZE];
    const char *said;

    if (read_tail(directory, SETUP_FAILED_FILE, failed) != 0 ||
        failed[0] == '\0')
        return false;
    said = read_tail(directory, "log", log) == 0 ? last_line(log) : "";
    snprintf(text, size, "%.*s%s%s%s", (int)size / 2, last_line(failed),
             said[0] != '\0' ? " (" : "", said, said[0] != '\0' ? ")" : "");
    return true;
}
