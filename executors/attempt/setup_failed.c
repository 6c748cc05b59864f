/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/setup_failed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"

enum { TAIL_BYTES = 1023 };

/* The last bytes of a file of the directory, as text. */
static int read_tail(const char *directory, const char *name, struct buf *tail)
{
    char *path = fs_join(directory, name);
    int result = fs_read_tail(path, TAIL_BYTES, tail);

    free(path);
    return result;
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
    struct buf failed = BUF_INIT, log = BUF_INIT;
    bool is_there = read_tail(directory, SETUP_FAILED_FILE, &failed) == 0 &&
                    failed.data[0] != '\0';
    const char *said = "";

    if (is_there && read_tail(directory, "log", &log) == 0)
        said = last_line(log.data);
    if (is_there)
        snprintf(text, size, "%.*s%s%s%s", (int)size / 2,
                 last_line(failed.data), said[0] != '\0' ? " (" : "", said,
                 said[0] != '\0' ? ")" : "");
    buf_clear(&log);
    buf_clear(&failed);
    return is_there;
}
