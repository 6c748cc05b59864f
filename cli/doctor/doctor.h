/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DOCTOR_DOCTOR_H
#define SMTUNE_CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "base/buf.h"

struct cli;

/* What `smtune doctor` looks at, one function each. */

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL };

struct doctor_finding {
    enum health health; /* OK to begin with */
    struct buf found;   /* what there is */
    struct buf fix;     /* what to do about it */
};

static inline void doctor_advise(struct doctor_finding *finding,
                                 enum health health, const char *fix)
{
    finding->health = health;
    buf_add_string(&finding->fix, fix);
}

struct doctor_check {
    const char *name; /* NULL ends the table */
    void (*look)(const struct cli *cli, struct doctor_finding *finding);
};

extern const struct doctor_check doctor_checks[];

/* libcurl, and the CA certificates of https requests. */
void doctor_look_at_https(const struct cli *cli,
                          struct doctor_finding *finding);

/* The store's directory, or the nearest one above it that is there; the
 * caller's to free. */
char *doctor_nearest_directory(const char *store);

/* ---- a Slurm cluster ---- */

struct doctor_cluster {
    const char *url;       /* of slurmrestd; NULL: Slurm's commands */
    bool is_tried;         /* by one job */
    const char *partition; /* of that; NULL: the default */
};

/* Tells one finding after the other; none where there is no Slurm, and nothing
 * asks for it. */
void doctor_look_at_cluster(const struct cli *cli,
                            const struct doctor_cluster *ask,
                            void (*tell)(void *user, const char *name,
                                         const struct doctor_finding *finding),
                            void *user);

#endif
