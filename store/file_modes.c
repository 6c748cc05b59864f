/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/file_modes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mem.h"

enum { OWN = 0600, OF_OTHERS = 077 };

int file_modes_create(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, OWN);

    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create '%s'",
                             path);
    /* The umask may take more away. Some disks have no modes. */
    fchmod(fd, OWN);
    close(fd);
    return 0;
}

void file_modes_check(const char *directory, file_modes_fn *call, void *user)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        char *path = mem_printf("%s/smtune.db%s", directory, endings[i]);
        struct stat status;

        if (stat(path, &status) == 0 && (status.st_mode & OF_OTHERS) != 0)
            call(user, path, (unsigned)(status.st_mode & 07777));
        free(path);
    }
}
