/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/attempt_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

enum { REASON_MAX = 256 };

static const struct table_column place_columns[PLACE_COLUMNS] = {
    {"node", NULL, COLUMN_TEXT, NULL},
    {"handle", "job", COLUMN_TEXT, NULL},
    {"queued_ms", "queued for", COLUMN_DURATION, NULL},
    {"pending", "waits for", COLUMN_TEXT, NULL},
    {"displaced", NULL, COLUMN_TEXT, NULL},
};

static const struct table_column resume_column = {"resume", "smtune resume",
                                                  COLUMN_TEXT, NULL};

static int find_place(void *user, const struct attempt_row *attempt)
{
    struct place_list *list = user;

    list->has_places |= attempt->node != NULL || attempt->handle != NULL ||
                        attempt->queued_ms != 0 || attempt->is_displaced;
    list->has_resume |= attempt->ended_ms == 0 && run_lacks_engine(list->view);
    return 0;
}

int place_list_init(struct place_list *list, const struct table_column *own,
                    size_t count, const struct run_view *view, int64_t job,
                    struct err *err)
{
    *list = (struct place_list){.count = count, .view = view};
    memcpy(list->columns, own, count * sizeof(*own));
    if (store_each_attempt(view->store, view->row.id, job, find_place, list,
                           err) < 0)
        return -1;
    if (list->has_places) {
        memcpy(list->columns + count, place_columns, sizeof(place_columns));
        list->count += PLACE_COLUMNS;
    }
    if (list->has_resume)
        list->columns[list->count++] = resume_column;
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

static bool is_queued(const struct attempt_row *attempt)
{
    return attempt->queued_ms != 0 && strcmp(attempt->state, "starting") == 0;
}

/* Slurm's reason, as the executor left it beside the attempt (executor.h). */
static void read_reason(const char *store, const struct attempt_row *attempt,
                        struct buf *reason)
{
    char *path;

    if (!is_queued(attempt))
        return;
    path = mem_printf("%s/%s/reason", store, attempt->directory);
    if (fs_read_regular(path, REASON_MAX, reason, NULL) != 0)
        buf_truncate(reason, 0);
    buf_truncate(reason, strcspn(buf_text(reason), "\n"));
    free(path);
}

int place_list_row(const struct place_list *list, struct document *document,
                   const struct value *own, const struct attempt_row *attempt,
                   const struct attempt_now *now, struct err *err)
{
    size_t count =
        list->count - list->has_resume - (list->has_places ? PLACE_COLUMNS : 0);
    struct value cells[PLACE_LIST_MAX];
    struct buf reason = BUF_INIT;
    int status;

    read_reason(store_directory(list->view->store), attempt, &reason);
    const struct value places[PLACE_COLUMNS] = {
        value_text_or_null(attempt->node),
        value_text_or_null(attempt->handle),
        queued_for(attempt),
        value_text_unless_empty(buf_text(&reason)),
        attempt->is_displaced ? value_bool(true) : value_null(),
    };

    memcpy(cells, own, count * sizeof(*own));
    memcpy(cells + count, places, sizeof(places));
    if (list->has_resume)
        cells[list->count - 1] = value_text_or_null(now->resume);
    status = document_row(document, cells, err);
    buf_clear(&reason);
    return status;
}

/* What a reason of Slurm's means, by how it begins. */
static const struct {
    const char *reason, *meaning;
} meanings[] = {
    {"Priority", "other jobs have a higher priority"},
    {"Resources", "it is next when enough nodes are free"},
    {"JobHeldUser", "held by you; `scontrol release` lets it start"},
    {"JobHeldAdmin", "held by an administrator"},
    {"BeginTime", "its earliest start is later"},
    {"Dependency", "it waits for another job"},
    {"Licenses", "it waits for a licence"},
    {"Reservation", "it waits for its reservation"},
    {"ReqNodeNotAvail", "a node that it requires is down or reserved"},
    {"NodeDown", "a node that it requires is down"},
    {"PartitionDown", "the partition is down"},
    {"PartitionInactive", "the partition is inactive"},
    {"PartitionConfig", "no node of the partition is large enough"},
    {"QOS", "a limit of its QOS"},
    {"MaxCpuPerAccount", "a limit of its account"},
    {"Assoc", "a limit of its account"},
    {"JobArrayTaskLimit", "a limit of its array"},
    {"Cleaning", "Slurm clears its last start away"},
    {"Prolog", "the prolog runs on its nodes"},
};

static const char *find_meaning(const char *reason)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (strncmp(reason, meanings[i].reason, strlen(meanings[i].reason)) ==
            0)
            return meanings[i].meaning;
    }
    return NULL;
}

static void print_reason(const char *reason, struct buf *out)
{
    const char *meaning = find_meaning(reason);

    if (reason[0] == '\0')
        return;
    buf_add_string(out, ": ");
    text_escape(reason, strlen(reason), out);
    if (meaning != NULL)
        buf_printf(out, " (%s)", meaning);
}

struct queue_print {
    const char *store;
    struct buf *out;
};

static int print_queue(void *user, const struct attempt_row *attempt)
{
    const struct queue_print *print = user;
    struct buf *out = print->out, reason = BUF_INIT;
    char duration[32];

    if (!is_queued(attempt))
        return 0;
    units_format_duration(queued_for(attempt).integer, duration,
                          sizeof(duration));
    buf_add_string(out, "it is queued");
    if (attempt->handle != NULL) {
        buf_add_string(out, " as job ");
        text_escape(attempt->handle, strlen(attempt->handle), out);
    }
    buf_printf(out, ", for %s", duration);
    read_reason(print->store, attempt, &reason);
    print_reason(buf_text(&reason), out);
    buf_clear(&reason);
    return 0;
}

int place_print_queue(const struct run_view *view, int64_t job, struct buf *out,
                      struct err *err)
{
    struct queue_print print = {store_directory(view->store), out};

    if (run_lacks_engine(view))
        return attempt_now_print(view, job, out, err);
    return store_each_attempt(view->store, view->row.id, job, print_queue,
                              &print, err);
}
