/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_CACHED_H
#define SMTUNE_CLI_PLAN_CACHED_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct cache_forecast;
struct cli;
struct workflow;

/* What a plan shows of steps with `cache`. A forecast of NULL has none. */

/* Asks the cache, for a run of that name (NULL: the one it would get).
 * *forecast is the caller's, NULL where no step has `cache`. 0, or -1. */
int plan_cached_read(const struct cli *cli, const struct workflow *workflow,
                     const char *name, struct cache_forecast **forecast,
                     struct err *err);

/* "2 of 3 steps with a cache are hits, 1 is not known yet", or nothing. */
void plan_cached_add_totals(const struct workflow *workflow,
                            const struct cache_forecast *forecast,
                            struct buf *out);
/* "cache hit: job 3 of run 'one'", "cache: depends on prepare"; nothing of a
 * step without `cache`. */
void plan_cached_add_step(const struct workflow *workflow,
                          const struct cache_forecast *forecast, size_t step,
                          struct buf *out);

/* The same for programs, null where there is nothing. */
json_t *plan_cached_totals_json(const struct workflow *workflow,
                                const struct cache_forecast *forecast);
json_t *plan_cached_step_json(const struct workflow *workflow,
                              const struct cache_forecast *forecast,
                              size_t step);

#endif
