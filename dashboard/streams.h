/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_STREAMS_H
#define SMTUNE_DASHBOARD_STREAMS_H

#include <uv.h>

/* All streams of a dashboard, for who opens and closes that (stream.h is for
 * who opens one, and sends). */

/* So many at once, and so many of guests (request_is_guests); the other
 * connections are for short questions. */
enum { STREAMS_MAX = 256, STREAMS_GUESTS_MAX = 192 };

struct streams;

struct streams *streams_create(uv_loop_t *loop);
/* When there are no more; gone when the loop has run to its end. */
void streams_destroy(struct streams *streams);

/* Ends the streams of all browsers that came in as viewers, for whom there is
 * no session any more. */
void streams_end_viewers(struct streams *streams);

#endif
