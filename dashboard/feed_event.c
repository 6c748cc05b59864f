/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/feed_event.h"

#include <inttypes.h>

#include "base/base64.h"
#include "base/buf.h"
#include "dashboard/columns/columns.h"
#include "dashboard/stream.h"

/* Ends the text. */
static struct blob *make(const char *name, int64_t id, struct buf *data)
{
    struct blob *event;

    buf_add_char(data, '}');
    event = stream_event(name, id, buf_text(data));
    buf_clear(data);
    return event;
}

struct blob *feed_event_gone(int64_t run)
{
    struct buf data = BUF_INIT;

    buf_printf(&data, "{\"run\":%" PRId64, run);
    return make("gone", 0, &data);
}

struct blob *feed_event_runs(const json_t *rows)
{
    struct buf data = BUF_INIT;

    buf_add_string(&data, "{\"runs\":");
    json_print(rows, &data);
    return make("runs", 0, &data);
}

struct blob *feed_event_rows(const struct columns_part *part, bool with_columns)
{
    struct buf data = BUF_INIT;

    buf_printf(&data,
               "{\"run\":%" PRId64 ",\"since\":%" PRId64 ",\"seq\":%" PRId64,
               part->run, part->since, part->seq);
    if (with_columns) {
        buf_add_string(&data, ",\"columns\":\"");
        base64_encode(part->bytes->data, part->bytes->length, &data);
        buf_add_char(&data, '"');
    }
    return make("rows", part->seq, &data);
}
