/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/term/browser.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

static char *write_page(const char *url, struct err *err)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    char *path =
        mem_printf("%s/smtune-XXXXXX.html",
                   folder != NULL && folder[0] == '/' ? folder : "/tmp");
    char *text = mem_printf("<!doctype html>\n<title>smtune</title>\n"
                            "<meta http-equiv=\"refresh\" content=\"0;%s\">\n",
                            url);
    int fd = mkstemps(path, (int)strlen(".html"));
    int status = fd < 0 ? -1 : fs_write_all(fd, text, strlen(text));

    if (status < 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status < 0)
        unlink(path);
    free(text);
    if (status == 0)
        return path;
    free(path);
    return NULL;
}

char *browser_open(const char *url, struct err *err)
{
    char program[] = "xdg-open";
    char *path = write_page(url, err);
    char *argv[] = {program, path, NULL};
    pid_t pid;
    int status;

    if (path == NULL)
        return NULL;
    status = posix_spawnp(&pid, program, NULL, NULL, argv, environ);
    if (status == 0)
        return path;
    err_set_errno(err, ERR_FAILED, status, "cannot start '%s'", program);
    unlink(path);
    free(path);
    return NULL;
}
