/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_RUN_EARLIER_H
#define SMTUNE_ORCHESTRATOR_RUN_RUN_EARLIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/run/run.h"

/* Runs that there are already when another one is to be made. */

/* The run that has the name already which a new run is to have. */
struct run_earlier {
    int64_t id; /* 0: there is none */
    char *name; /* the caller's, as all of it */
    int64_t trials;
    bool is_over;    /* nothing would come of going on with it as it is */
    bool has_failed; /* as a whole */
    bool is_same;    /* of the same file with the same --set words */
    bool has_engine; /* which works on it now */
};

/* Finds it; without a name, the last one that has the file's own. -1 when the
 * store cannot be read. */
int run_find_earlier(struct store *store, const struct spec *spec,
                     const struct run_order *order, struct run_earlier *earlier,
                     struct err *err);

/*
 * *name: of a run of the same file in the folder of this process that has an
 * engine now; the caller's, NULL: there is none. -1 when the store cannot be
 * read.
 */
int run_find_other(struct store *store, const struct spec *spec, char **name,
                   struct err *err);

/*
 * Finds the run that an earlier attempt of the job has begun, and that may
 * stand for order's: the last one of the same file and --set words. What it
 * began before it last succeeded is over and done with: the job was put back.
 */
int run_find_child(struct store *store, const struct spec *spec,
                   const struct run_order *order, struct run_earlier *earlier,
                   struct err *err);

#endif
