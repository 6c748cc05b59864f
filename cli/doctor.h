/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DOCTOR_H
#define SMTUNE_CLI_DOCTOR_H

#include "base/buf.h"

struct cli;

/* What `smtune doctor` looks at, one function each. */

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL };

struct finding {
    enum health health; /* OK to begin with */
    struct buf found;   /* what there is */
    struct buf fix;     /* what to do about it */
};

struct doctor_check {
    const char *name; /* NULL ends the table */
    void (*look)(const struct cli *cli, struct finding *finding);
};

extern const struct doctor_check doctor_checks[];

#endif
