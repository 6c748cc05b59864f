/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/attempt_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"

/* Numbers below 0 are of reserves, which come before their row. */
static bool is_anothers(const char *directory)
{
    struct claim claim;
    struct attempt_exit end;

    if (claim_read(directory, &claim) == 1 && claim.attempt > 0)
        return true;
    return exit_read_any(directory, &end) == 1 && end.attempt > 0;
}

static int set_aside(int parent_fd, const char *name, struct err *err)
{
    enum { KEPT_MAX = 1000 };
    int result = -1;

    errno = EEXIST;
    for (int i = 1; i <= KEPT_MAX && result != 0 &&
                    (errno == EEXIST || errno == ENOTEMPTY);
         i++) {
        char *kept = mem_printf("%s.unrecorded-%d", name, i);

        result = renameat(parent_fd, name, parent_fd, kept);
        free(kept);
    }
    return result == 0 ? 0
                       : err_set_errno(err, ERR_FAILED, errno,
                                       "cannot rename the directory %s", name);
}

static int make(int parent_fd, const char *name, struct err *err)
{
    if (fs_shared_mkdirat(parent_fd, name) == 0 || errno == EEXIST)
        return 0;
    return err_set_errno(err, ERR_FAILED, errno, "cannot make the directory %s",
                         name);
}

int attempt_folder_make(int parent_fd, const char *directory, struct err *err)
{
    const char *name = strrchr(directory, '/') + 1;

    if (fs_shared_mkdirat(parent_fd, name) == 0)
        return 0;
    if (errno != EEXIST || !is_anothers(directory))
        return make(parent_fd, name, err);
    if (!claim_is_free(directory))
        return err_set(
            err, ERR_SHORTAGE,
            "an attempt that is not in the record still runs in '%s'",
            directory);
    return set_aside(parent_fd, name, err) == 0 ? make(parent_fd, name, err)
                                                : -1;
}
