/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ACCESS_PRIVATE_FILE_H
#define SMTUNE_DASHBOARD_ACCESS_PRIVATE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Reads at most size - 1 bytes of a file, and ends them with a NUL: their
 * count. Only a file of this user that nobody else may use is read, and no
 * link: whoever can make a file in its folder cannot make such a one. -1 with
 * errno, which is 0 where there is something else of that name.
 */
ssize_t private_file_read(const char *path, char *text, size_t size);

/* Makes or replaces such a file, of one line. */
int private_file_write(const char *path, const char *line, struct err *err);

#endif
