/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_FEED_EVENT_H
#define SMTUNE_DASHBOARD_FEED_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

struct blob;
struct columns_part;

/* The events that feed.h describes, as streams send them; the caller's to
 * release. */
struct blob *feed_event_gone(int64_t run);
struct blob *feed_event_runs(const json_t *rows);
struct blob *feed_event_rows(const struct columns_part *part,
                             bool with_columns);

#endif
