/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_SCHEDULE_LABEL_H
#define SMTUNE_CLI_SHOW_RUN_SCHEDULE_LABEL_H

#include <stdbool.h>

#include "orchestrator/search/whatif.h"

enum { SCHEDULE_LABEL_SIZE = 64 };

/* Which options matter to a method. */
struct schedule_concerns {
    bool eta, type, rule, patience;
};

struct schedule_concerns schedule_concerns_of(const char *method);

/* "promotion" or "stopping". */
const char *schedule_type_word(enum schedule_type type);

/* "asha eta 3 promotion": the method, and those options that matter to it;
 * into label[SCHEDULE_LABEL_SIZE]. */
void schedule_label(const struct schedule_options *options, char *label);

#endif
