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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "dashboard/access/private_file.h"

struct viewer_link {
    char *path;
    bool is_in_store;
    char text[VIEWER_LINK_SIZE];
};

/* Whether that error is of a file that is not there, or is none of ours. Any
 * other is of a disk that does not answer, which has withdrawn nothing. */
static bool is_withdrawn(int error)
{
    return error == 0 || error == ENOENT || error == ELOOP || error == ENXIO ||
           error == EACCES;
}

/* The file is as long as a link with its line end. -1 with errno, which is 0
 * where the file can be read and has no link. */
static int read_text(const char *path, char text[VIEWER_LINK_SIZE])
{
    char line[VIEWER_LINK_SIZE + 2]; /* and a byte too many */
    ssize_t length = private_file_read(path, line, sizeof(line));

    if (length != VIEWER_LINK_SIZE || line[VIEWER_LINK_SIZE - 1] != '\n' ||
        strspn(line, "0123456789abcdef") != VIEWER_LINK_SIZE - 1)
        return -1;
    memcpy(text, line, VIEWER_LINK_SIZE - 1);
    text[VIEWER_LINK_SIZE - 1] = '\0';
    return 0;
}

static int write_new(struct viewer_link *link, struct err *err)
{
    token_draw(link->text, VIEWER_LINK_BYTES);
    return private_file_write(link->path, link->text, err);
}

/* As write_new() where there is no file: of two dashboards that begin at once,
 * both have the link of the first. Some disks have no hard links. */
static int write_first(struct viewer_link *link, struct err *err)
{
    char unique[TOKEN_SIZE(8)];
    char *path = link->path;
    int status;

    token_draw(unique, 8);
    link->path = mem_printf("%s.%s", path, unique);
    status = write_new(link, err);
    if (status == 0 && linkat(AT_FDCWD, link->path, AT_FDCWD, path, 0) != 0 &&
        errno != EEXIST && rename(link->path, path) != 0)
        status =
            err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    unlink(link->path);
    free(link->path);
    link->path = path;
    return status;
}

/* There is one in the file, and it stays private. */
static int find_or_make(struct viewer_link *link, struct err *err)
{
    int status;

    if (read_text(link->path, link->text) == 0)
        return 0;
    if (!is_withdrawn(errno))
        return err_set_errno(err, ERR_FAILED, errno, "cannot read '%s'",
                             link->path);
    status = errno == ENOENT ? write_first(link, err) : write_new(link, err);
    if (status < 0)
        return -1;
    if (read_text(link->path, link->text) == 0)
        return 0;
    unlink(link->path);
    return err_set(err, ERR_FAILED,
                   "cannot keep the link for viewers in '%s': its mode is not "
                   "0600",
                   link->path);
}

static char *path_in(const char *folder)
{
    return mem_printf("%s/viewer-link-%u", folder, (unsigned int)geteuid());
}

struct viewer_link *viewer_link_open(const char *store, const char *other,
                                     struct err *err)
{
    struct viewer_link *link = mem_zero(sizeof(*link));
    const char *const folders[] = {store, other};

    for (size_t i = 0; i < 2 && folders[i] != NULL; i++) {
        free(link->path);
        link->path = path_in(folders[i]);
        link->is_in_store = i == 0;
        if (find_or_make(link, err) == 0)
            return link;
    }
    viewer_link_close(link);
    return NULL;
}

struct viewer_link *viewer_link_find(const char *store, const char *other,
                                     struct err *err)
{
    struct viewer_link *link = mem_zero(sizeof(*link));

    link->path = path_in(other);
    if (read_text(link->path, link->text) == 0)
        return link;
    viewer_link_close(link);
    return viewer_link_open(store, NULL, err);
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

bool viewer_link_is_in_store(const struct viewer_link *link)
{
    return link->is_in_store;
}

void viewer_link_move(struct viewer_link *link, const char *other)
{
    if (link->is_in_store)
        return;
    free(link->path);
    link->path = path_in(other);
    private_file_write(link->path, link->text, NULL);
}

int viewer_link_replace(struct viewer_link *link, struct err *err)
{
    return write_new(link, err);
}

bool viewer_link_refresh(struct viewer_link *link)
{
    char text[VIEWER_LINK_SIZE];

    if (read_text(link->path, text) < 0) {
        if (!is_withdrawn(errno))
            return false;
        write_new(link, NULL);
        return true;
    }
    if (strcmp(text, link->text) == 0)
        return false;
    memcpy(link->text, text, VIEWER_LINK_SIZE);
    return true;
}
