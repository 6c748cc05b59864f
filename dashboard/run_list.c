/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of runs in memory, shared by all clients.
 *
 * A look at the store costs little if nothing changed: it compares the number
 * of runs and the newest event with the last look. Only runs with new events
 * are read again. A row that reads the same keeps its version, so clients get
 * nothing. If numbers of events went back, because a run was removed, all runs
 * are looked at; those that are missing are remembered for GONE_KEPT_MS.
 *
 * An engine that is killed leaves no event. So runs that are recorded as
 * running are checked for their engine once a second.
 *
 * The lock is held during the whole look. Otherwise an older reading could
 * replace a newer one.
 */
#include "dashboard/run_list.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "dashboard/columns/tally.h"
#include "dashboard/run_front.h"
#include "dashboard/run_json.h"
#include "dashboard/source.h"
#include "store/changes.h"
#include "store/store.h"

enum {
    /* How often it is looked which engines are there: of that there is no
     * event. */
    ENGINES_INTERVAL_MS = 1000,
    /* Who has heard nothing for that long asks for the whole list. */
    GONE_KEPT_MS = 60000
};

struct entry {
    int64_t run;
    int64_t seq;   /* of the run's last event */
    uint64_t seen; /* in which look at all runs */
    bool is_dirty; /* its row is to be made anew */
    struct tally *tally;
    struct run_front front;
    /* What its state hangs on, while the record says that it is running. */
    char *name; /* NULL: the record does not */
    int64_t paused_ms;
    char *state;
    json_t *row;      /* NULL: not made yet */
    char *text;       /* the row's */
    uint64_t version; /* of the row */
};

struct gone_run {
    int64_t run;
    uint64_t version;
    int64_t time_ms; /* when it was missed */
};

struct run_list {
    const struct dashboard_source *source;
    uv_mutex_t lock;
    struct entry *entries; /* [count], by run */
    size_t count, capacity;
    struct gone_run *gone; /* [gone_count], by time */
    size_t gone_count, gone_capacity;
    uint64_t version;
    uint64_t looks; /* at all runs */
    int64_t last_event;
    int64_t engines_ms; /* when they were looked at */
};

/* One look. */
struct look {
    struct run_list *list;
    struct store *store;
    struct err *err;
    struct front_time fronts;
};

struct run_list *run_list_create(const struct dashboard_source *source)
{
    struct run_list *list = mem_zero(sizeof(*list));

    list->source = source;
    if (uv_mutex_init(&list->lock) != 0)
        abort();
    return list;
}

static void clear_entry(struct entry *entry)
{
    tally_destroy(entry->tally);
    run_front_clear(&entry->front);
    json_decref(entry->row);
    free(entry->text);
    free(entry->name);
    free(entry->state);
}

void run_list_destroy(struct run_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        clear_entry(&list->entries[i]);
    free(list->entries);
    free(list->gone);
    uv_mutex_destroy(&list->lock);
    free(list);
}

/* ---- keeping up to date ---- */

struct reading {
    struct look *look;
    struct entry *entry;
};

static void keep_row(struct run_list *list, struct entry *entry, json_t *row)
{
    struct buf text = BUF_INIT;

    json_print(row, &text);
    if (entry->text != NULL && strcmp(entry->text, buf_text(&text)) == 0) {
        json_decref(row);
        buf_clear(&text);
        return;
    }
    json_decref(entry->row);
    free(entry->text);
    entry->row = row;
    entry->text = buf_take(&text);
    entry->version = ++list->version;
}

static const char *find_state(const struct look *look,
                              const struct run_row *run)
{
    const struct dashboard_source *source = look->list->source;

    return source->run_state(source->user, look->store, run);
}

static int take_run(void *user, const struct run_row *row)
{
    const struct reading *reading = user;
    struct look *look = reading->look;
    struct entry *entry = reading->entry;
    struct run_row run = *row;
    json_t *json;

    tally_fill(entry->tally, &run);
    free(entry->name);
    free(entry->state);
    entry->name =
        strcmp(run.state, "running") == 0 ? mem_copy_string(run.name) : NULL;
    entry->paused_ms = run.paused_ms;
    entry->state = mem_copy_string(find_state(look, &run));
    if (run_front_update(&entry->front, &look->fronts, look->list->source,
                         look->store, &run, look->err) != 0)
        return -1;
    json = run_to_json(look->store, &run, entry->state, look->err);
    if (json == NULL)
        return -1;
    json_object_set_new(json, "front",
                        entry->front.json != NULL
                            ? json_incref(entry->front.json)
                            : json_null());
    keep_row(look->list, entry, json);
    return 0;
}

static int refresh(struct look *look, struct entry *entry)
{
    struct reading reading = {look, entry};

    if (tally_update(entry->tally, look->store, entry->run, entry->seq,
                     look->err) < 0 ||
        store_get_run_uncounted(look->store, entry->run, take_run, &reading,
                                look->err) != 0)
        return -1;
    entry->is_dirty = false;
    return 0;
}

/* The run's, made where there is none. */
static struct entry *find_entry(struct run_list *list, int64_t run)
{
    size_t low = 0, high = list->count;
    struct entry *entry;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->entries[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < list->count && list->entries[low].run == run)
        return &list->entries[low];
    list->entries = mem_grow(list->entries, list->count, &list->capacity,
                             sizeof(*list->entries));
    entry = &list->entries[low];
    memmove(entry + 1, entry, (list->count - low) * sizeof(*entry));
    list->count++;
    *entry = (struct entry){.run = run, .tally = tally_create()};
    return entry;
}

static int take_change(void *user, int64_t run, int64_t seq)
{
    struct look *look = user;
    struct entry *entry = find_entry(look->list, run);

    entry->is_dirty = entry->is_dirty || entry->seq != seq;
    entry->seq = seq;
    entry->seen = look->list->looks;
    return 0;
}

static void forget_gone(struct run_list *list, int64_t now_ms)
{
    size_t old = 0;

    while (old < list->gone_count &&
           now_ms - list->gone[old].time_ms > GONE_KEPT_MS)
        old++;
    if (old == 0)
        return;
    list->gone_count -= old;
    memmove(list->gone, list->gone + old,
            list->gone_count * sizeof(*list->gone));
}

static void add_gone(struct run_list *list, int64_t run, int64_t now_ms)
{
    list->gone = mem_grow(list->gone, list->gone_count, &list->gone_capacity,
                          sizeof(*list->gone));
    list->gone[list->gone_count++] =
        (struct gone_run){run, ++list->version, now_ms};
}

static void drop_unseen(struct run_list *list)
{
    int64_t now_ms = clock_monotonic_ms();
    size_t kept = 0;

    forget_gone(list, now_ms);
    for (size_t i = 0; i < list->count; i++) {
        struct entry *entry = &list->entries[i];

        if (entry->seen == list->looks) {
            list->entries[kept++] = *entry;
            continue;
        }
        add_gone(list, entry->run, now_ms);
        clear_entry(entry);
    }
    list->count = kept;
}

static int look_at_all(struct look *look)
{
    look->list->looks++;
    if (store_each_changed_run(look->store, 0, take_change, look, look->err) !=
        0)
        return -1;
    drop_unseen(look->list);
    return 0;
}

/* Numbers of events may come again after a run was removed: then it is seen by
 * what runs there are. */
static int look_at_changed(struct look *look)
{
    struct run_list *list = look->list;
    struct store_mark mark;

    if (store_read_mark(look->store, &mark, look->err) < 0)
        return -1;
    if (mark.last_event > list->last_event && list->last_event > 0 &&
        store_each_changed_run(look->store, list->last_event, take_change, look,
                               look->err) != 0)
        return -1;
    if ((mark.last_event < list->last_event || list->last_event == 0 ||
         mark.runs != (int64_t)list->count ||
         (mark.runs > 0 &&
          list->entries[list->count - 1].run != mark.last_run)) &&
        look_at_all(look) < 0)
        return -1;
    list->last_event = mark.last_event;
    return 0;
}

/* An engine that is killed says nothing, and a front may be behind. */
static void look_at_engines(struct look *look)
{
    struct run_list *list = look->list;
    int64_t now_ms = clock_monotonic_ms();

    if (now_ms - list->engines_ms < ENGINES_INTERVAL_MS)
        return;
    list->engines_ms = now_ms;
    for (size_t i = 0; i < list->count; i++) {
        struct entry *entry = &list->entries[i];
        struct run_row run = {.id = entry->run,
                              .name = entry->name,
                              .state = "running",
                              .paused_ms = entry->paused_ms};

        if ((entry->name != NULL &&
             strcmp(find_state(look, &run), entry->state) != 0) ||
            run_front_is_due(&entry->front, now_ms))
            entry->is_dirty = true;
    }
}

static int refresh_dirty(struct look *look)
{
    struct run_list *list = look->list;

    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].is_dirty && refresh(look, &list->entries[i]) < 0)
            return -1;
    }
    return 0;
}

/* Under the lock, so that nobody looks with what they read before another one
 * did. */
int run_list_update(struct run_list *list, struct store *store, struct err *err)
{
    struct look look = {list, store, err, {clock_monotonic_ms(), 0}};
    bool began = false;
    int result;

    uv_mutex_lock(&list->lock);
    result = store_read_begin(store, &began, err);
    if (result == 0)
        result = look_at_changed(&look);
    if (result == 0) {
        look_at_engines(&look);
        result = refresh_dirty(&look);
    }
    store_read_end(store, began);
    uv_mutex_unlock(&list->lock);
    return result;
}

json_t *run_list_rows(struct run_list *list, uint64_t *version, json_t **gone)
{
    json_t *rows = json_array();

    if (gone != NULL)
        *gone = json_array();
    uv_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *entry = &list->entries[i];

        if (entry->row != NULL && entry->version > *version)
            json_array_append(rows, entry->row);
    }
    for (size_t i = 0; gone != NULL && i < list->gone_count; i++) {
        if (list->gone[i].version > *version)
            json_array_append_new(*gone,
                                  json_integer((json_int_t)list->gone[i].run));
    }
    *version = list->version;
    uv_mutex_unlock(&list->lock);
    return rows;
}
