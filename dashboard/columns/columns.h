/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_COLUMNS_COLUMNS_H
#define SMTUNE_DASHBOARD_COLUMNS_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dashboard/http/blob.h"

struct store;

/*
 * The jobs of a run as columns in memory, a row a job in the order of their
 * numbers, and what changed since when. seq is that of the record's events:
 * a row's is the last event of its job, the whole one's the last that is in it.
 *
 * What goes to a client (docs/dashboard-api.md says it to others): numbers are
 * little-endian.
 *
 *   "SMTC", u32 version 1, u32 length of the header, the header: JSON, filled
 *   up with spaces so that what follows starts at a multiple of 8
 *   each column's bytes, filled up to a multiple of 8, in the header's order
 *
 *   {"run": 3, "since": 0, "seq": 812, "rows": 100, "columns": [
 *     {"name": "number", "type": "u32"},
 *     {"name": "state", "type": "u8", "words": ["ready", "running", ...]},
 *     {"name": "param:lr", "type": "f64"}, ...]}
 *
 * A column with words holds indices into them, and the type's largest number
 * (255, 65535) where there is none. Words are only ever added. A real that is
 * not known is NaN, a time too (they are f64, ms since 1970); an unsigned
 * integer that is not known is 0.
 *
 *   number u32; job f64 (its id); state u8 words; cause u8 words; created,
 *   started, ended, duration (of all attempts), last_started, last_duration
 *   (of the last one), f64; attempts u16; violation f64; value:METRIC f64;
 *   outcome:METRIC f64; param:NAME f64, or u16 words where any of its values is
 *   a text or a bool (a column that turns into words by a later row makes all
 *   who have it as numbers start again: "since" is 0 in their next answer);
 *   bracket, rung, resource, reached, used (by all attempts), last_used (by
 *   the last one) f64; parent, same_as u32
 *   of a workflow: step u16 words; copy, round u32
 *   tags u16 words: all of the row's, "good, slow"
 *   nans u32: a bit for each of value:METRIC and outcome:METRIC, in the order
 *   of the columns, which is set where the real is NaN because the trial said
 *   that; left out while no row has any
 *
 * bracket and those behind it are left out where no row has any, and so is
 * violation where the run has no constraints. Words over 65,534 are one,
 * "(others)".
 */

struct columns;

/* Reads all of a run. NULL on error. */
struct columns *columns_load(struct store *store, int64_t run, struct err *err);
void columns_destroy(struct columns *columns);
/* Takes in what happened since. */
int columns_update(struct columns *columns, struct store *store,
                   struct err *err);
int64_t columns_seq(const struct columns *columns);
size_t columns_bytes(const struct columns *columns); /* of memory */
/* From where on who has all up to `since` gets what it lacks: from there, or
 * (0) from the start. */
int64_t columns_since(const struct columns *columns, int64_t since);
/* Rows with a seq over since, one that columns_since has given. */
struct blob *columns_encode(const struct columns *columns, int64_t since);

/* The few runs that are in memory: those looked at last, others' memory is
 * given back above COLUMNS_CACHE_BYTES. Safe from all threads. */
enum { COLUMNS_CACHE_BYTES = 512 << 20 };
struct columns_cache;

struct columns_cache *columns_cache_create(void);
/* Nobody may ask it any more. */
void columns_cache_destroy(struct columns_cache *cache);

struct columns_part {
    int64_t run, since; /* what is asked for; since: what it came to be */
    int64_t seq;
    struct blob *bytes; /* the caller's to release */
};

/*
 * What `columns_encode` gives of the run as it is now; the same bytes are made
 * once for all who ask for the same. ERR_NOT_FOUND when there is no such run.
 */
int columns_cache_get(struct columns_cache *cache, struct store *store,
                      struct columns_part *part, struct err *err);

#endif
