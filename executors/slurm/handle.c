/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The small files by which an attempt and its Slurm job find each other again
 * after a crash. A handle is written before its job is submitted, so that a job
 * in the cluster never lacks one. A file counts only if it ends with a newline:
 * a write that was cut short reads as no file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "executors/attempt/shim_status.h"
#include "executors/slurm/slurm_impl.h"

enum { FILE_MAX_BYTES = 256 };

int slurm_file_write(const char *directory, const char *name, const char *text,
                     struct err *err)
{
    char *path = fs_join(directory, name);
    int fd = fs_shared_open(path, O_WRONLY | O_TRUNC, 0600);
    int result = fd >= 0 ? fs_write_all(fd, text, strlen(text)) : -1;

    if (result != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    if (fd >= 0)
        close(fd);
    free(path);
    return result;
}

int slurm_handle_write(const char *directory, const struct slurm_handle *handle,
                       struct err *err)
{
    char line[FILE_MAX_BYTES];

    snprintf(line, sizeof(line), "%s %d\n", handle->name, handle->task);
    return slurm_file_write(directory, "slurm", line, err);
}

/* The line of a small file, without its newline; -1 where it is not there, or
 * not whole. */
static int read_line(const char *directory, const char *name,
                     char line[FILE_MAX_BYTES])
{
    struct buf text = BUF_INIT;
    char *path = fs_join(directory, name);
    int result = fs_read_regular(path, FILE_MAX_BYTES - 1, &text, NULL);

    free(path);
    if (result == 0 && (text.length < 2 || text.data[text.length - 1] != '\n'))
        result = -1;
    if (result == 0)
        snprintf(line, FILE_MAX_BYTES, "%.*s", (int)text.length - 1, text.data);
    buf_clear(&text);
    return result;
}

int slurm_handle_read(const char *directory, struct slurm_handle *handle)
{
    char line[FILE_MAX_BYTES], *space, *end;

    if (read_line(directory, "slurm", line) != 0)
        return -1;
    space = strchr(line, ' ');
    if (space == NULL || space == line ||
        (size_t)(space - line) >= sizeof(handle->name))
        return -1;
    *space = '\0';
    memcpy(handle->name, line, (size_t)(space - line) + 1);
    handle->task = (int)strtol(space + 1, &end, 10);
    return end != space + 1 && *end == '\0' && handle->task >= -1 ? 0 : -1;
}

int slurm_job_write(const char *folder, int64_t job, struct err *err)
{
    char line[FILE_MAX_BYTES];

    snprintf(line, sizeof(line), "%" PRId64 "\n", job);
    return slurm_file_write(folder, "job", line, err);
}

int64_t slurm_job_read(const char *folder)
{
    char line[FILE_MAX_BYTES], *end;
    int64_t job;

    if (read_line(folder, "job", line) != 0)
        return 0;
    job = strtoll(line, &end, 10);
    return *end == '\0' && job > 0 ? job : 0;
}

/* A file of a few lines, without the newlines at its end. */
static int read_lines(const char *folder, const char *name, struct buf *text)
{
    char *path = fs_join(folder, name);
    int result = fs_read_regular(path, 1 << 20, text, NULL);

    while (text->length > 0 && text->data[text->length - 1] == '\n')
        buf_truncate(text, text->length - 1);
    free(path);
    return result;
}

void slurm_last_words(const char *folder, char *line, size_t size)
{
    struct buf text = BUF_INIT;
    const char *last;

    line[0] = '\0';
    if (read_lines(folder, "log", &text) == 0) {
        last = strrchr(buf_text(&text), '\n');
        snprintf(line, size, "%s", last != NULL ? last + 1 : buf_text(&text));
    }
    buf_clear(&text);
}

bool slurm_is_unhealthy(const char *directory, char *why, size_t size)
{
    struct buf text = BUF_INIT;
    bool is_unhealthy = read_lines(directory, SHIM_UNHEALTHY_FILE, &text) == 0;

    snprintf(why, size, "%s", buf_text(&text));
    buf_clear(&text);
    return is_unhealthy;
}
