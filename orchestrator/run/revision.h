/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_REVISION_H
#define SMTUNE_ORCHESTRATOR_RUN_REVISION_H

#include "base/err.h"

struct run;

/* At which commit of git the code is that a run goes on with. */

/* That of a directory, with "-dirty" behind it where files that git keeps have
 * changed since; the caller's to free. NULL: it has none, or git does not say
 * so within a second. */
char *revision_of(const char *directory);

/* Into the record of a run without an engine, committed. */
int revision_record(struct run *run, const char *revision, struct err *err);

#endif
