/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_RUNTIME_FOLDER_H
#define SMTUNE_BASE_SYSTEM_RUNTIME_FOLDER_H

#include "base/err.h"

enum { RUNTIME_FOLDER_MAX = 512 };

/*
 * Puts the path of smtune/NAME below $XDG_RUNTIME_DIR, or of /tmp/smtune-UID/
 * NAME, into path: for what the programs of one user share on this machine
 * until it is started anew. It is made if it is not there. ERR_FAILED where the
 * folder, or the one above it, is another user's or open to others.
 */
int runtime_folder(const char *name, char path[RUNTIME_FOLDER_MAX],
                   struct err *err);

/* Makes a folder for this user alone, if there is nothing at the path; the
 * folder that it is in has to be there. ERR_FAILED where it is a link, or
 * another user's or open to others. */
int private_folder(const char *path, struct err *err);

#endif
