/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The link is a file in the store, one for each user who has dashboards of it.
 * Whoever replaces or removes the file withdraws the link, also while nothing
 * runs, or on another machine.
 *
 * A store may be shared by a group, whose members can put files there: only a
 * file of this user that nobody else can read is taken, and links to other
 * files are not followed. Any other is replaced. A store that is not writable,
 * or on a disk without modes, cannot keep the link.
 */
#include "dashboard/access/viewer_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/token.h"

enum { LINK_BYTES = 32, LINK_SIZE = TOKEN_SIZE(LINK_BYTES) };

struct viewer_link {
    char *path;
    char text[LINK_SIZE];
};

static bool is_private(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_uid == geteuid() &&
           (file.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/* The file is as long as a link with its line end. -1 with errno, which is 0
 * where the file can be read and has no link. */
static int read_text(const char *path, char text[LINK_SIZE])
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t length;
    int saved;

    if (fd < 0)
        return -1;
    errno = 0;
    length = is_private(fd) ? read(fd, text, LINK_SIZE) : -1;
    saved = errno;
    close(fd);
    errno = saved;
    if (length != LINK_SIZE || text[LINK_SIZE - 1] != '\n')
        return -1;
    text[LINK_SIZE - 1] = '\0';
    return strspn(text, "0123456789abcdef") == LINK_SIZE - 1 ? 0 : -1;
}

static int write_new(struct viewer_link *link, struct err *err)
{
    char *line;
    int status;

    token_draw(link->text, LINK_BYTES);
    line = mem_printf("%s\n", link->text);
    status = fs_write_atomic(link->path, line, strlen(line), 0600, err);
    free(line);
    return status;
}

/* There is one in the file, and it stays private. */
static int find_or_make(struct viewer_link *link, struct err *err)
{
    if (read_text(link->path, link->text) == 0)
        return 0;
    if (write_new(link, err) < 0)
        return -1;
    if (read_text(link->path, link->text) == 0)
        return 0;
    unlink(link->path);
    return err_set(err, ERR_FAILED,
                   "cannot keep the link for viewers in '%s': its mode is not "
                   "0600",
                   link->path);
}

struct viewer_link *viewer_link_open(const char *store, const char *other,
                                     struct err *err)
{
    struct viewer_link *link = mem_zero(sizeof(*link));
    const char *const folders[] = {store, other};

    for (size_t i = 0; i < 2 && folders[i] != NULL; i++) {
        free(link->path);
        link->path = mem_printf("%s/viewer-link-%u", folders[i],
                                (unsigned int)geteuid());
        if (find_or_make(link, err) == 0)
            return link;
    }
    viewer_link_close(link);
    return NULL;
}

void viewer_link_close(struct viewer_link *link)
{
    if (link == NULL)
        return;
    free(link->path);
    free(link);
}

const char *viewer_link_text(const struct viewer_link *link)
{
    return link->text;
}

int viewer_link_replace(struct viewer_link *link, struct err *err)
{
    return write_new(link, err);
}

bool viewer_link_refresh(struct viewer_link *link)
{
    char text[LINK_SIZE];

    if (read_text(link->path, text) < 0) {
        /* A disk that does not answer has withdrawn nothing. */
        if (errno != 0 && errno != ENOENT && errno != ELOOP)
            return false;
        write_new(link, NULL);
        return true;
    }
    if (strcmp(text, link->text) == 0)
        return false;
    memcpy(link->text, text, LINK_SIZE);
    return true;
}
