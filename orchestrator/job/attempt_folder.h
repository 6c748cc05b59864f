/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_ATTEMPT_FOLDER_H
#define SMTUNE_ORCHESTRATOR_JOB_ATTEMPT_FOLDER_H

#include "base/err.h"

/*
 * Makes the folder of a new attempt. One that is there already was made for it
 * by an engine that died, or is that of a reserve. But where another attempt
 * has been in it, the record that knew of that one is lost, or was replaced by
 * an older one: its folder is kept beside, as FOLDER.unrecorded-N.
 *
 * `parent_fd` is the directory that it is in. ERR_SHORTAGE when something of
 * that attempt still runs, ERR_FAILED when the folder cannot be made.
 */
int attempt_folder_make(int parent_fd, const char *directory, struct err *err);

#endif
