/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/repair/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"

/* What belongs to a database, and would damage another one. */
static const char *const endings[] = {"-wal", "-journal"};

static int move_beside(const char *from, const char *to, const char *ending)
{
    char *old = mem_printf("%s%s", from, ending);
    char *new = mem_printf("%s%s", to, ending);
    int result = rename(old, new) != 0 && errno != ENOENT ? -1 : 0;

    free(old);
    free(new);
    return result;
}

static void move_back(const char *path, const char *kept)
{
    int error = errno;

    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        move_beside(kept, path, endings[i]);
    errno = error;
}

/* The old file has its new name already, if there is one. */
static int take_place(const char *path, const char *fresh, const char *kept)
{
    char *shared = mem_printf("%s-shm", path);
    int result = 0;

    for (size_t i = 0; i < ARRAY_LEN(endings) && result == 0; i++)
        result = move_beside(path, kept, endings[i]);
    if (result == 0 &&
        ((unlink(shared) != 0 && errno != ENOENT) || rename(fresh, path) != 0))
        result = -1;
    if (result != 0)
        move_back(path, kept);
    free(shared);
    return result;
}

int exchange_databases(const char *path, const char *fresh, const char *kept,
                       struct err *err)
{
    int result = link(path, kept) != 0 && errno != ENOENT ? -1 : 0;

    if (result == 0 && (result = take_place(path, fresh, kept)) != 0) {
        int error = errno;

        unlink(kept);
        errno = error;
    }
    if (result != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot move '%s' to '%s'", path,
                      kept);
    fs_sync_directory_of(path);
    return result;
}
