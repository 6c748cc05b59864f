/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_WARM_START_H
#define SMTUNE_ORCHESTRATOR_SEARCH_WARM_START_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"
#include "strategies/strategy.h"

/*
 * Results of earlier runs that a search begins with. They are read once, when
 * a run is created, and kept with it: whatever becomes of the earlier runs, the
 * search knows the same again after a restart.
 *
 * Mode same: the earlier trials count as trials of this search. Settings that
 * this file's ranges and constraints do not allow are left out.
 * Mode transfer: they guide. Values are standardised a run, to mean 0 and
 * deviation 1; what is out of range is moved to its nearest end, and what an
 * earlier run did not have, or has values of that are unknown here, is drawn
 * at random, so that nothing is learnt of it.
 */
struct warm_start;

struct warm_source {
    const char *run;
    int64_t taken, left_out;
};

enum { WARM_MAX_TRIALS = 100000 };

/*
 * Reads what the experiment's file asks for. NULL on error: ERR_NOT_FOUND
 * where there is no such run, ERR_FILE where it does not fit.
 */
struct warm_start *warm_start_read(struct store *store,
                                   const struct experiment *experiment,
                                   struct err *err);
/* Keeps it with a run, in the open transaction. */
int warm_start_record(const struct warm_start *warm, struct store *store,
                      int64_t run, struct err *err);
/* As it was kept with a run; without what was left out. */
struct warm_start *warm_start_load(struct store *store, int64_t run,
                                   const struct experiment *experiment,
                                   struct err *err);
void warm_start_destroy(struct warm_start *warm); /* NULL is none */
/* One hash of all that it holds. */
void warm_start_digest(const struct warm_start *warm,
                       char hex[DIGEST_HEX_SIZE]);

/* Tells a strategy that was not asked for anything yet. */
void warm_start_tell(const struct warm_start *warm, struct strategy *strategy);
/* Where they guide, has each run's best setting tried first; with several
 * objectives there is none. */
void warm_start_enqueue(const struct warm_start *warm,
                        struct strategy *strategy);

size_t warm_start_source_count(const struct warm_start *warm);
const struct warm_source *warm_start_source(const struct warm_start *warm,
                                            size_t i);

#endif
