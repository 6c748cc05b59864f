/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_FILES_CHECK_H
#define SMTUNE_ORCHESTRATOR_SEARCH_FILES_CHECK_H

#include "base/conf/diag.h"
#include "orchestrator/spec/experiment/experiment.h"

/* Makes the files of a trial (`trial.files`) with some setting, and adds what
 * is wrong with them to diags, each at the place of its `from`. Reads the
 * template files: to be called before a run begins, not for one of the record.
 */
void files_check(const struct experiment *experiment, struct diags *diags);

#endif
