/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/control_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>

int control_address(const char *run_directory, struct sockaddr_un *address,
                    struct err *err)
{
    int directory = open(run_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
                             errno, "cannot open '%s'", run_directory);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof(address->sun_path),
             "/proc/self/fd/%d/" CONTROL_SOCKET_NAME, directory);
    return directory;
}
