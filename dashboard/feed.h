/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_FEED_H
#define SMTUNE_DASHBOARD_FEED_H

#include <stdint.h>

struct dashboard;
struct feed;

/*
 * Looks for news in the store in a worker thread, as long as somebody listens;
 * PRAGMA data_version says whether there may be any. Between two looks are
 * FEED_INTERVAL_MS, and 1 ms for each who listens: to tell them costs more than
 * to look. What it sends (stream.h):
 *
 *   runs  {"runs": [...]}: rows of the list of runs that are not what they were
 *   rows  id: SEQ {"run": 3, "since": 812, "seq": 820, "columns": "BASE64"}:
 *         what columns_encode gives since then; without "columns" where that is
 *         long, and where a connection is new (since and seq are the same
 *         then): who has less asks for it. Who comes back is sent what came
 *         since the event that it heard last, where that is still known
 *   gone  {"run": 3}: it was removed
 */
enum { FEED_INTERVAL_MS = 75, FEED_COLUMNS_MAX_BYTES = 64 << 10 };

/* All in the loop. */
struct feed *feed_create(struct dashboard *dashboard);
/* Frees it, and says so, when no thread is at work for it any more. */
void feed_close(struct feed *feed, void (*closed)(void *user), void *user);
/* Somebody listens now, to this run or (0) to the list alone, who comes back
 * with last_id (stream_last_id). NULL: it is closed, and nothing comes. */
void feed_wake(struct feed *feed, int64_t run, int64_t last_id);

#endif
