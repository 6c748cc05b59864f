/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/attempt_place.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"

static const struct table_column place_columns[PLACE_COLUMNS] = {
    {"node", NULL, COLUMN_TEXT, NULL},
    {"handle", "job", COLUMN_TEXT, NULL},
    {"queued_ms", "queued for", COLUMN_DURATION, NULL},
    {"displaced", NULL, COLUMN_TEXT, NULL},
};

static int find_place(void *user, const struct attempt_row *attempt)
{
    *(bool *)user |= attempt->node != NULL || attempt->handle != NULL ||
                     attempt->queued_ms != 0 || attempt->is_displaced;
    return 0;
}

int place_list_init(struct place_list *list, const struct table_column *own,
                    size_t count, const struct run_row *run,
                    struct store *store, int64_t job, struct err *err)
{
    *list = (struct place_list){.count = count};
    memcpy(list->columns, own, count * sizeof(*own));
    if (store_each_attempt(store, run->id, job, find_place, &list->has_places,
                           err) < 0)
        return -1;
    if (list->has_places) {
        memcpy(list->columns + count, place_columns, sizeof(place_columns));
        list->count += PLACE_COLUMNS;
    }
    return 0;
}

static struct value queued_for(const struct attempt_row *attempt)
{
    int64_t until_ms =
        attempt->started_ms != 0 ? attempt->started_ms : attempt->ended_ms;

    if (attempt->queued_ms == 0)
        return value_null();
    if (until_ms == 0)
        until_ms = clock_wall_ms();
    return value_int(
        until_ms > attempt->queued_ms ? until_ms - attempt->queued_ms : 0);
}

int place_list_row(const struct place_list *list, struct document *document,
                   const struct value *own, const struct attempt_row *attempt,
                   struct err *err)
{
    struct value cells[PLACE_LIST_MAX];
    const struct value places[PLACE_COLUMNS] = {
        value_text_or_null(attempt->node),
        value_text_or_null(attempt->handle),
        queued_for(attempt),
        attempt->is_displaced ? value_bool(true) : value_null(),
    };
    size_t count = list->count - (list->has_places ? PLACE_COLUMNS : 0);

    memcpy(cells, own, count * sizeof(*own));
    memcpy(cells + count, places, sizeof(places));
    return document_row(document, cells, err);
}

static int print_queue(void *user, const struct attempt_row *attempt)
{
    struct buf *out = user;
    char duration[32];

    if (attempt->queued_ms == 0 || strcmp(attempt->state, "starting") != 0)
        return 0;
    units_format_duration(queued_for(attempt).integer, duration,
                          sizeof(duration));
    buf_add_string(out, "it is queued");
    if (attempt->handle != NULL) {
        buf_add_string(out, " as job ");
        text_escape(attempt->handle, strlen(attempt->handle), out);
    }
    buf_printf(out, ", for %s", duration);
    return 0;
}

int place_print_queue(struct store *store, int64_t run, int64_t job,
                      struct buf *out, struct err *err)
{
    return store_each_attempt(store, run, job, print_queue, out, err);
}
