/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/claim_trace.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "executors/machine/process_table.h"

bool claim_path_is_in(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 &&
           strcmp(path + length, "/claim") == 0;
}

bool claim_is_open_in(const char *directory, pid_t pid)
{
    char path[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof(path), "%s/claim", directory);
    return stat(path, &status) == 0 &&
           process_has_open(pid, status.st_dev, status.st_ino);
}
